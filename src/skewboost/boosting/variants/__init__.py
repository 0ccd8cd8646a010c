"""The published variants, a file per paper or family. `skewboost.catalogue()` lists them."""
