"""Fitted models as programs: source code in Python, C and SQL, and ONNX graphs."""
