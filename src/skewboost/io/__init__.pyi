from skewboost.io.export.onnx_model import to_onnx as to_onnx
from skewboost.io.export.source_code import to_source as to_source
from skewboost.io.model_file import describe as describe
from skewboost.io.model_file import dumps as dumps
from skewboost.io.model_file import load as load
from skewboost.io.model_file import loads as loads
from skewboost.io.model_file import save as save
from skewboost.io.structure import ModelFileError as ModelFileError

__all__: list[str]
