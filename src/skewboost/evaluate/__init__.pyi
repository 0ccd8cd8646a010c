from skewboost.evaluate.bootstrap_estimate import Bootstrap632 as Bootstrap632
from skewboost.evaluate.bootstrap_estimate import bootstrap_632 as bootstrap_632
from skewboost.evaluate.comparison import DividedGroupsWarning as DividedGroupsWarning
from skewboost.evaluate.comparison import IncompleteComparisonWarning as IncompleteComparisonWarning
from skewboost.evaluate.comparison import compare as compare
from skewboost.evaluate.comparison_result import Comparison as Comparison
from skewboost.evaluate.decomposition import BiasVariance as BiasVariance
from skewboost.evaluate.decomposition import bias_variance as bias_variance
from skewboost.evaluate.error_bounds import MarginBound as MarginBound
from skewboost.evaluate.error_bounds import margin_bound as margin_bound
from skewboost.evaluate.error_bounds import stump_vc_dimension as stump_vc_dimension
from skewboost.evaluate.error_bounds import vc_bound as vc_bound
from skewboost.evaluate.majority_vote import majority_vote_error as majority_vote_error
from skewboost.evaluate.rank_tests import RankTest as RankTest
from skewboost.evaluate.rate_match import RateMatch as RateMatch
from skewboost.evaluate.rate_match import match_rate as match_rate
from skewboost.evaluate.results_file import ResultsFileError as ResultsFileError
from skewboost.evaluate.staged_curves import StagedCurve as StagedCurve
from skewboost.evaluate.staged_curves import staged_curve as staged_curve
from skewboost.evaluate.summary import Summary as Summary
from skewboost.evaluate.summary import summarise as summarise
from skewboost.evaluate.sweeps import CostSweep as CostSweep
from skewboost.evaluate.sweeps import Sweep as Sweep
from skewboost.evaluate.sweeps import cost_sweep as cost_sweep
from skewboost.evaluate.sweeps import imbalance_sweep as imbalance_sweep
from skewboost.evaluate.sweeps import noise_sweep as noise_sweep

__all__: list[str]
