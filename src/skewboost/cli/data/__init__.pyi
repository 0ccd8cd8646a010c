from skewboost.cli.data.data_error import DataError as DataError
from skewboost.cli.data.opening import open_data as open_data
from skewboost.cli.data.source import Source as Source
