from skewboost.errors import RepeatedRowsWarning as RepeatedRowsWarning
from skewboost.goals.cascade import CascadeClassifier as CascadeClassifier
from skewboost.goals.certificate import Certificate as Certificate
from skewboost.goals.goal import Condition as Condition
from skewboost.goals.goal import Goal as Goal
from skewboost.goals.goal_measures import GOAL_MEASURES as GOAL_MEASURES
from skewboost.goals.goal_measures import GoalMeasure as GoalMeasure
from skewboost.goals.goal_measures import accuracy as accuracy
from skewboost.goals.goal_measures import expected_cost as expected_cost
from skewboost.goals.goal_measures import f1 as f1
from skewboost.goals.goal_measures import false_alarm_rate as false_alarm_rate
from skewboost.goals.goal_measures import flagged_share as flagged_share
from skewboost.goals.goal_measures import g_mean as g_mean
from skewboost.goals.goal_measures import miss_rate as miss_rate
from skewboost.goals.goal_measures import precision as precision
from skewboost.goals.goal_measures import recall as recall
from skewboost.goals.goal_measures import referred_share as referred_share
from skewboost.goals.goal_measures import specificity as specificity
from skewboost.goals.goal_search import GoalSearchCV as GoalSearchCV
from skewboost.goals.reasons import GoalNotMetWarning as GoalNotMetWarning
from skewboost.goals.reasons import LittleUseWarning as LittleUseWarning
from skewboost.goals.unreachable import GoalNotReachableError as GoalNotReachableError

__all__: list[str]
