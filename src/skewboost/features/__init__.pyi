from skewboost.features.haar_features import HaarFeatures as HaarFeatures

__all__: list[str]
