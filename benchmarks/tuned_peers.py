"""SkewBoostClassifier against peers that are tuned, and fold by fold against CatBoost.

    python benchmarks/tuned_peers.py                     # two hours
    python benchmarks/tuned_peers.py --peers optuna --sets pima,haberman
    python benchmarks/tuned_peers.py --report            # print the results so far

`optuna`: LightGBM, whose leaves, learning rate, rounds, samples and penalties Optuna chooses in 50 trials by the
log-loss of three inner folds; it decides by the threshold 1 / (1 + f). `averaged`: eight folds (three times repeated
below a hundred positives) of LightGBM with three settings, stopped early on each fold, whose probabilities are averaged
with greedy weights and a temperature from the held-out scores. `catboost`: its defaults, to compare log-losses fold by
fold, and times. These two take two threads, and the tuned ones one. The tables, folds and measures are those of
`portfolio.py`. Results are kept in a file, so that an interrupted run goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit, logit
from sklearn.metrics import log_loss
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedKFold

from portfolio import SHARED, measures
from skewboost import SkewBoostClassifier

COLUMNS = ("AP", "log-loss", "f=2", "f=5", "f=10", "f=R", "seconds")
SLOW, TUNED = ("sylva", "nursery_very_recom"), ("optuna", "averaged")  # these tables are left out for these peers
N_TRIALS = 50


def optuna_lightgbm(X, y, X_new):
    """Return P(1) of new rows by LightGBM with the best parameters of 50 trials."""
    import lightgbm
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    folds = list(StratifiedKFold(3, shuffle=True, random_state=1).split(X, y))

    def parameters(trial):
        return {
            "n_estimators": trial.suggest_int("n_estimators", 20, 500, log=True),
            "learning_rate": trial.suggest_float("learning_rate", 0.01, 0.3, log=True),
            "num_leaves": trial.suggest_int("num_leaves", 2, 64, log=True),
            "min_child_samples": trial.suggest_int("min_child_samples", 1, 50, log=True),
            "subsample": trial.suggest_float("subsample", 0.5, 1.0),
            "subsample_freq": 1,
            "colsample_bytree": trial.suggest_float("colsample_bytree", 0.4, 1.0),
            "reg_lambda": trial.suggest_float("reg_lambda", 1e-3, 30.0, log=True),
            "min_child_weight": trial.suggest_float("min_child_weight", 1e-4, 10.0, log=True),
        }

    def model(settings):
        return lightgbm.LGBMClassifier(**settings, verbose=-1, n_jobs=1, random_state=0)

    def objective(trial):
        chosen = parameters(trial)
        losses = []
        for inner, outer in folds:
            p = model(chosen).fit(X.iloc[inner], y[inner]).predict_proba(X.iloc[outer])[:, 1]
            losses.append(log_loss(y[outer], np.clip(p, 1e-12, 1 - 1e-12), labels=[0, 1]))
        return float(np.mean(losses))

    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0))
    study.optimize(objective, n_trials=N_TRIALS)
    return model(parameters(study.best_trial)).fit(X, y).predict_proba(X_new)[:, 1]


def averaged_lightgbm(X, y, X_new):
    """Return P(1) of new rows by averages of early-stopped LightGBM over folds, three settings of it."""
    import lightgbm

    rate = 0.024 * (len(y) / 200) ** 0.25
    common = {
        "n_estimators": 2000, "learning_rate": rate, "subsample": 0.8, "subsample_freq": 1, "colsample_bytree": 0.6,
        "reg_lambda": 2.0, "min_child_samples": 1, "min_child_weight": 1e-3, "verbose": -1, "n_jobs": 1,
    }  # fmt: skip
    families = [{"num_leaves": 8}, {"num_leaves": 32, "extra_trees": True}, {"num_leaves": 3}]
    n_folds, n_repeats = min(8, int((y == 1).sum())), 3 if (y == 1).sum() < 100 else 1
    cv = RepeatedStratifiedKFold(n_splits=n_folds, n_repeats=n_repeats, random_state=0)
    held, new = np.zeros((len(families), len(y))), np.zeros((len(families), len(X_new)))
    for inner, outer in cv.split(X, y):
        for k, family in enumerate(families):
            made = lightgbm.LGBMClassifier(**common, **family, random_state=k)
            stop = lightgbm.early_stopping(50, verbose=False)
            made.fit(X.iloc[inner], y[inner], eval_set=[(X.iloc[outer], y[outer])], callbacks=[stop])
            held[k, outer] += made.predict_proba(X.iloc[outer])[:, 1] / n_repeats
            new[k] += made.predict_proba(X_new)[:, 1] / (n_folds * n_repeats)

    def loss(p):
        return log_loss(y, np.clip(p, 1e-12, 1 - 1e-12))

    chosen: list[int] = []
    for _ in range(20):  # greedy weights: add the family that helps most, again and again
        chosen.append(min(range(len(families)), key=lambda k: loss(held[[*chosen, k]].mean(axis=0))))
    p, q = held[chosen].mean(axis=0), new[chosen].mean(axis=0)
    score, score_new = (logit(np.clip(values, 1e-6, 1 - 1e-6)) for values in (p, q))
    temperature = minimize_scalar(lambda t: loss(expit(t * score)), bounds=(0.3, 3.0), method="bounded").x
    return expit(temperature * score_new)


def catboost(X, y, X_new):
    """Return P(1) of new rows by CatBoost's defaults."""
    import quality
    from catboost import CatBoostClassifier

    return quality._CatBoost(CatBoostClassifier).fit(X, y).predict_proba(X_new)[:, 1]


def skewboost(X, y, X_new):
    """Return P(1) of new rows by SkewBoostClassifier."""
    return SkewBoostClassifier(random_state=0, n_jobs=2).fit(X, y).predict_proba(X_new)[:, 1]


PEERS = {"skewboost": skewboost, "catboost": catboost, "averaged": averaged_lightgbm, "optuna": optuna_lightgbm}


def evaluate(X, y, peer):
    """Return the measures and the time of a peer on each of five folds."""
    ratio, rows = round((y == 0).sum() / (y == 1).sum(), 1), []
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        start = time.perf_counter()
        p = PEERS[peer](X.iloc[train], y[train], X.iloc[test])
        rows.append([*measures(p, y[test], ratio), time.perf_counter() - start])
    return rows


def report(results):
    """Print the mean measures over tables, and the paired differences from SkewBoostClassifier."""
    for peer, own in results.items():
        sets = sorted(set(own) & set(results["skewboost"]))
        if not sets:
            continue
        mean = np.array([np.mean(own[s], axis=0) for s in sets])
        off = mean - np.array([np.mean(results["skewboost"][s], axis=0) for s in sets])
        error = off.std(axis=0, ddof=1) / np.sqrt(len(sets)) if len(sets) > 1 else np.zeros(len(COLUMNS))
        cells = [f"{m:.3f} ({d:+.3f} ± {e:.3f})" for m, d, e in zip(mean.mean(axis=0), off.mean(axis=0), error)]
        print(f"| {peer}, {len(sets)} tables | {' | '.join(cells)} |")


def report_losses(results):
    """Print the tables on which the log-loss is higher than CatBoost's, with the paired difference over the folds."""
    for s in sorted(set(results["catboost"]) & set(results["skewboost"])):
        own, other = (np.array(results[peer][s])[:, 1] for peer in ("skewboost", "catboost"))
        off = own - other
        error = off.std(ddof=1) / np.sqrt(len(off))
        if off.mean() > 0:
            print(f"log-loss on {s}: {own.mean():.4f}, CatBoost {other.mean():.4f}, t = {off.mean() / error:.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", default=",".join(PEERS), help="names separated by commas")
    parser.add_argument("--sets", default=None, help="names separated by commas")
    parser.add_argument("--results", default="tuned_peers.jsonl")
    parser.add_argument("--report", action="store_true", help="print the results so far")
    arguments = parser.parse_args()
    if not (SHARED / "quality.py").exists():
        sys.exit("The tables of this benchmark are not shipped: ../shared/quality.py is not there.")
    sys.path[:0] = [str(SHARED), str(SHARED / "data")]
    from load import load
    from quality import DEV

    warnings.filterwarnings("ignore")
    path = Path(arguments.results)
    results = {peer: {} for peer in PEERS}
    for row in map(json.loads, path.read_text().splitlines() if path.exists() else []):
        results[row["peer"]][row["set"]] = row["folds"]
    sets = arguments.sets.split(",") if arguments.sets else DEV
    with path.open("a") as out:
        for s in sets if not arguments.report else ():
            for peer in arguments.peers.split(","):
                if s not in results[peer] and not (peer in TUNED and s in SLOW):
                    results[peer][s] = evaluate(*load(s), peer)
                    print(json.dumps({"peer": peer, "set": s, "folds": results[peer][s]}), file=out, flush=True)
                    print(f"{s}: {peer}", file=sys.stderr, flush=True)
    print(f"| | {' | '.join(COLUMNS)} |\n|---|{'---|' * len(COLUMNS)}")
    report(results)
    report_losses(results)


if __name__ == "__main__":
    main()
