"""The native core: C++ sources and how they are built. It is in a checkout and in the sdist, not in wheels."""


class BuildError(RuntimeError):
    """The native core cannot be built."""


class NoCompilerError(BuildError):
    """There is no C++ compiler."""
