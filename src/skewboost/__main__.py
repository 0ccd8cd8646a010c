"""``python -m skewboost`` is the command line."""

from skewboost.cli import main

if __name__ == "__main__":
    main()
