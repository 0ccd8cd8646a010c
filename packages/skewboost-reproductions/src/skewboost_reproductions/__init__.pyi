from skewboost_reproductions.experiment_runs import Reproduction as Reproduction
from skewboost_reproductions.experiment_runs import experiments as experiments
from skewboost_reproductions.experiment_runs import reproduce as reproduce
from skewboost_reproductions.experiment_runs import reproduce_all as reproduce_all

__version__: str
__all__: list[str]
