from skewboost.reproduce.experiment_runs import Reproduction as Reproduction
from skewboost.reproduce.experiment_runs import experiments as experiments
from skewboost.reproduce.experiment_runs import reproduce as reproduce
from skewboost.reproduce.experiment_runs import reproduce_all as reproduce_all
