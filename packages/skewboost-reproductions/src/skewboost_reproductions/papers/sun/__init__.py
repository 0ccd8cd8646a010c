"""Sun, Wong and Wang on parameters of cost-sensitive boosters: table 1."""
