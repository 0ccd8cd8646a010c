from skewboost.cli.data.content import DataError as DataError
from skewboost.cli.data.formats import open_data as open_data
from skewboost.cli.data.source import Source as Source
