"""The native core: its C++ sources and how to build them. Checkouts and sdists have it, wheels do not."""


class BuildError(RuntimeError):
    """The native core cannot be built."""


class NoCompilerError(BuildError):
    """No C++ compiler was found."""
