"""The papers: a package each, with one or more experiments."""

EXPERIMENTS = {  # each has an `EXPERIMENT` in its module
    "cuendet-complete": "cuendet.complete",
    "cuendet-curves": "cuendet.curves",
    "cuendet-rounds": "cuendet.rounds",
    "masnadi-faces": "masnadi.faces",
    "masnadi-synthetic": "masnadi.synthetic",
    "masnadi-uci": "masnadi.uci",
    "nikolaou": "nikolaou.variants",
    "nyga-costs": "nyga.costs",
    "nyga-figures": "nyga.figures",
    "nyga-goals": "nyga.goals",
    "nyga-impact": "nyga.impact",
    "slides-examples": "slides.examples",
    "sun-table1": "sun.table1",
}
