"""The toolbox of chapter 4: its names, its options, its example, and what the thesis says of its methods."""

from __future__ import annotations

import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, make_moons
from sklearn.metrics import precision_recall_fscore_support
from sklearn.model_selection import StratifiedKFold

import skewboost
from skewboost.learners import Stump, Tree
from skewboost.toolbox import (
    METHODS,
    Boost,
    Curves,
    Measures,
    boost_eval,
    boost_learn,
    show_decision_boundary,
    show_learning_curves,
)
from support import SHARED

mpl.use("Agg")

# of the thesis: the list in section 4.2, in its order
NAMES = (
    *("ada_boost", "real_boost", "gentle_boost", "logit_boost", "ada_c1", "ada_c2", "ada_c3", "ada_cost"),
    *("cs_realboost", "cs_gentleboost", "cs_logitboost", "rare_boost", "adaboost_reg", "weight_boost"),
)
C = {"ada_c1": 1.2, "ada_c2": 1.2, "ada_c3": 1.2, "ada_cost": 2.0, "adaboost_reg": 5.0, "weight_boost": 0.5}
C |= dict.fromkeys(("cs_realboost", "cs_gentleboost", "cs_logitboost"), 3.0)
RESPONSES = ("logit_boost", "cs_logitboost")


def moons(n_rows: int = 200, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_moons((n_rows - n_rows // 4, n_rows // 4), noise=0.3, random_state=seed)
    return X, np.where(y == 1, 1, -1)


def c_of(method: str, Y: np.ndarray):
    """A sensible parameter; AdaCost's steps are negative where a class costs 1, so there it is one per row."""
    return np.where(Y == 1, 0.2, 0.1) if method == "ada_cost" else C.get(method)


def shared_data(name: str):
    pytest.importorskip("pandas")
    if not (SHARED / "data" / "load.py").exists():
        pytest.skip("the shared data sets are not at hand (there is no ../shared/data)")
    sys.path.insert(0, str(SHARED / "data"))
    try:
        import load
    finally:
        sys.path.pop(0)
    X, y = load.load(name)
    splits = load.load_splits(name) if name.startswith("ida_") else []
    return X, y, splits


@pytest.fixture(autouse=True)
def close_figures():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


# ----------------------------------------------------------------------------------------------- the thesis's own words


def test_the_example_of_the_thesis():
    randn = np.random.default_rng(0).standard_normal
    N = 1000
    M = 50
    X = randn((N, 2))
    X = np.vstack((X, randn((N, 2)) + 3))
    Y = np.empty((2 * N, 1))
    Y[0:N, 0] = 1
    Y[N : 2 * N, 0] = -1
    boost = boost_learn(X, Y, "adaboost", "stump", M)
    ax = show_decision_boundary(boost, X, Y)
    assert boost.train.error[-1] < 0.0169  # what the best rule for these clusters errs by, Φ(-3 / √2)
    assert np.mean(np.sign(boost_eval(boost, X)) == Y.ravel()) == 1 - boost.train.error[-1]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x1", "x2")


def test_the_names_are_those_of_the_thesis():
    assert tuple(METHODS) == NAMES


@pytest.mark.parametrize("baselearner", ["stump", "cart", "svm"])
@pytest.mark.parametrize("method", NAMES)
def test_every_method_learns_with_every_base_learner(method, baselearner):
    X, Y = moons()
    if baselearner == "svm" and method in RESPONSES:
        with pytest.raises(ValueError, match=f"baselearner='svm' answers with labels, but method='{method}'"):
            boost_learn(X, Y, method, baselearner, 5, c=c_of(method, Y))
        return
    boost = boost_learn(X, Y, method, baselearner, 5, c=c_of(method, Y))
    assert boost.train.f1[-1] > 0.5
    assert len(boost.train.error) == boost.M == 5
    np.testing.assert_array_equal(boost_eval(boost, X) >= 0, boost.estimator.predict(X) == 1)


@pytest.mark.parametrize(
    ("method", "estimator"),
    [
        ("ada_c1", skewboost.AdaC1Classifier(alpha="nyga", cost=1.2)),
        ("ada_cost", skewboost.AdaCostClassifier(cost=2.0)),
        ("cs_realboost", skewboost.CSRAClassifier(cost=3.0)),
        ("adaboost_reg", skewboost.AdaBoostRegClassifier(C=5.0, p=1.0)),
        ("weight_boost", skewboost.WeightBoostClassifier(beta=0.5)),
    ],
)
def test_c_is_the_parameter_of_the_estimator(method, estimator):
    X, Y = moons()
    boost = boost_learn(X, Y, method, "stump", 10, c=C[method])
    stump = Stump(criterion="error", constant=True)
    direct = estimator.set_params(estimator=stump, n_estimators=10, pos_label=1).fit(X, Y)
    np.testing.assert_array_equal(boost_eval(boost, X), direct.decision_function(X))


def test_a_cost_per_row_and_the_same_cost_as_a_number_agree():
    X, Y = moons()
    one = boost_learn(X, Y, "ada_c2", "cart", 10, c=1.5)
    each = boost_learn(X, Y, "ada_c2", "cart", 10, c=np.where(Y == 1, 1.5, 1.0)[:, None])
    np.testing.assert_allclose(boost_eval(one, X), boost_eval(each, X))


@pytest.mark.parametrize("method", ["ada_c1", "ada_c2", "ada_c3"])
def test_at_a_cost_of_one_discrete_methods_are_adaboost(method):
    X, Y = moons()
    plain, costly = (boost_learn(X, Y, m, "stump", 15, c=c) for m, c in (("ada_boost", None), (method, 1)))
    np.testing.assert_allclose(boost_eval(costly, X), boost_eval(plain, X))


@pytest.mark.parametrize(
    ("method", "plain"),
    [("cs_realboost", "real_boost"), ("cs_gentleboost", "gentle_boost"), ("cs_logitboost", "logit_boost")],
)
def test_at_a_cost_of_one_probabilistic_methods_are_their_plain_ones(method, plain):
    X, Y = moons()
    F, G = (boost_eval(boost_learn(X, Y, m, "cart", 15, c=c), X) for m, c in ((method, 1.0), (plain, None)))
    np.testing.assert_allclose(F, G)


def test_rareboost_is_realboost_on_stumps():
    """Proposition 3."""
    X, Y = moons()
    rare, real = (boost_learn(X, Y, m, "stump", 30) for m in ("rare_boost", "real_boost"))
    np.testing.assert_allclose(boost_eval(rare, X), boost_eval(real, X))


def test_adaboost_solves_three_points_and_adac1_oscillates():
    """Figure 2.3: costs c = 3 of the middle point, 10 rounds."""
    X, Y = [[1.0], [2.0], [3.0]], [-1, 1, -1]
    plain = boost_learn(X, Y, "ada_boost", "stump", 10)
    assert (plain.train.error[3:] == 0).all()
    costly = boost_learn(X, Y, "ada_c1", "stump", 10, c=3)
    assert (costly.train.error > 0).any()
    assert len(set(costly.train.recall[5:])) == 2


def test_costs_raise_recall():
    X, Y = moons(400)
    recalls = [boost_learn(X, Y, "cs_gentleboost", "stump", 40, c=c).train.recall[-1] for c in (0.2, 1, 5, 50)]
    assert (np.diff(recalls) > 0).all()


def test_banana_data_overfit_as_in_figure_3_3():
    """RealBoost on CART: next to no training error after 100 rounds, and a test error that rises from round 50 on.

    The size of the tree was chosen for this; the test keeps it so, and is no evidence beyond that.
    """
    X, y, splits = shared_data("ida_banana")
    boosts = [
        boost_learn(X.iloc[a], y[a], "real_boost", "cart", 150, testdata=(X.iloc[b], y[b])) for a, b in splits[:5]
    ]
    train, test = (Curves.mean([getattr(boost, part) for boost in boosts]) for part in ("train", "test"))
    assert train.error[0] > 0.2
    assert train.error[29] > 0
    assert train.error[99] < 0.001
    assert test.error[-1] > test.error[49]
    assert test.f1[-1] == pytest.approx(0.820, abs=0.03)  # table 3.2, on other splits


def test_cancer_data_as_in_table_3_2():
    X, y, _ = shared_data("wisconsin_original")
    complete = X.notna().all(axis=1).to_numpy()
    boost = boost_learn(X[complete], y[complete], "ada_boost", "stump", 100, cv=5, random_state=0)
    last = boost.cv_test.after(-1)
    assert (last.precision, last.recall, last.f1) == pytest.approx((0.942, 0.926, 0.933), abs=0.03)


# ------------------------------------------------------------------------------------------------------------ measures


def test_measures_are_those_of_scikit_learn():
    X, Y = moons()
    boost = boost_learn(X, Y, "real_boost", "stump", 8)
    for m, predicted in enumerate(boost.estimator.staged_predict(X), 1):
        precision, recall, f1, _ = precision_recall_fscore_support(Y, predicted, average="binary", pos_label=1)
        got = boost.train.after(m)
        assert (got.error, got.precision, got.recall, got.f1) == pytest.approx(
            (np.mean(predicted != Y), precision, recall, f1)
        )


def test_what_cannot_be_divided_is_not_a_number():
    nobody = Measures.of(np.array([True, False]), np.array([-1.0, -1.0]))
    assert np.isnan(nobody.precision)
    assert str(nobody) == "error 0.500, precision -, recall 0.000, F1 0.000"
    some = Curves(*np.array([[0.1], [0.4], [0.3], [0.2]]))
    none = Curves(*np.array([[0.3], [np.nan], [0.0], [0.0]]))
    assert Curves.mean([some, none]).after(1) == Measures(0.2, 0.4, 0.15, 0.1)
    assert np.isnan(Curves.mean([none, none]).precision[0])


def test_curves_go_on_where_training_ended():
    boost = boost_learn([[0.0], [1.0]] * 5, [-1, 1] * 5, "ada_boost", "stump", 7)
    assert boost.estimator.n_estimators_ == 1
    np.testing.assert_array_equal(boost.train.f1, np.ones(7))


def test_a_learner_that_finds_nothing_still_has_curves():
    boost = boost_learn(np.zeros((8, 1)), [-1, 1] * 4, "real_boost", "stump", 3)
    assert boost.estimator.n_estimators_ == 0
    np.testing.assert_array_equal(boost.train.error, np.full(3, 0.5))
    show_learning_curves(boost)


def test_rounds_count_from_one():
    curves = boost_learn(*moons(), "real_boost", "stump", 4).train
    assert curves.after(4) == curves.after(-1)
    assert curves.after(1).error == curves.error[0]
    for m in (0, 5, -2):
        with pytest.raises(ValueError, match=f"m={m} is no round: give a number from 1 to 4"):
            curves.after(m)


# ------------------------------------------------------------------------------------------------------------- options


def test_labels_may_be_zero_and_one_a_column_or_booleans():
    X, Y = moons()
    expected = boost_eval(boost_learn(X, Y, "ada_boost", "stump", 5), X)
    for labels in ((Y + 1) // 2, Y == 1, Y[:, None], Y.astype(float), Y.tolist()):
        np.testing.assert_array_equal(boost_eval(boost_learn(X, labels, "ada_boost", "stump", 5), X), expected)


def test_the_positive_class_is_plus_one_even_if_it_is_common():
    X, Y = moons()
    boost = boost_learn(X, -Y, "ada_boost", "stump", 5)
    assert boost.estimator.pos_label_ == 1
    assert boost.train.recall[-1] == np.mean(boost_eval(boost, X)[Y == -1] >= 0)


def test_test_data_are_measured_and_told(capsys):
    X, Y = moons(200, 0)
    X_test, Y_test = moons(100, 1)
    boost = boost_learn(X, Y, "ada_boost", "stump", 6, testdata=(X_test, Y_test))
    said = capsys.readouterr()
    assert said.out == f"ada_boost, 6 rounds, test data: {boost.test.after(-1)}\n"
    assert said.err == ""
    F = boost_eval(boost, X_test, (Y_test + 1) // 2)
    assert capsys.readouterr().out == f"ada_boost on 100 rows: {boost.test.after(-1)}\n"
    assert Measures.of(Y_test == 1, F) == boost.test.after(-1)
    boost_eval(boost, X_test)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("per_row", [False, True])
def test_cross_validation_is_the_mean_over_stratified_folds(capsys, per_row):
    X, Y = moons()
    c = np.linspace(1, 2, len(Y)) if per_row else 1.5
    boost = boost_learn(X, Y, "cs_realboost", "stump", 6, c=c, cv=4, random_state=3)
    assert capsys.readouterr().out.startswith("cs_realboost, 6 rounds, 4-fold cross-validation: error 0.")
    errors = []
    for rows, others in StratifiedKFold(4, shuffle=True, random_state=3).split(X, Y):
        fold = boost_learn(X[rows], Y[rows], "cs_realboost", "stump", 6, c=c[rows] if per_row else c)
        errors.append((fold.train.error[-1], np.mean(np.sign(boost_eval(fold, X[others])) != Y[others])))
    assert (boost.cv_train.error[-1], boost.cv_test.error[-1]) == pytest.approx(tuple(np.mean(errors, axis=0)))


def test_nothing_is_said_unless_asked_for(capsys):
    X, Y = moons()
    quiet = boost_learn(X, Y, "ada_boost", "stump", 5, v="no", plot="no", boundary="no")
    assert capsys.readouterr() == ("", "")
    assert (quiet.test, quiet.cv_train, quiet.cv_test) == (None, None, None)
    boost_learn(X, Y, "ada_boost", "stump", 5, v="yes", cv=2, random_state=0)
    said = capsys.readouterr()
    assert said.err.count("5/5 rounds") == 3
    assert [line.split(":")[0] for line in said.out.splitlines()] == [
        "ada_boost, 5 rounds, training data",
        "ada_boost, 5 rounds, fold 1 of 2",
        "ada_boost, 5 rounds, fold 2 of 2",
        "ada_boost, 5 rounds, 2-fold cross-validation",
    ]


def test_missing_values_are_for_stumps_and_trees():
    X, Y = moons()
    X[::7, 0] = np.nan
    assert boost_learn(X, Y, "ada_boost", "stump", 5).train.error[-1] < 0.25
    with pytest.raises(ValueError, match="X has missing values, which baselearner='svm' cannot use"):
        boost_learn(X, Y, "ada_boost", "svm", 5)


def test_what_the_names_of_base_learners_stand_for():
    X, Y = moons()
    learners = {b: boost_learn(X, Y, "real_boost", b, 2).estimator.estimator for b in ("stump", "cart", "svm")}
    assert (learners["stump"].criterion, learners["stump"].constant) == ("error", True)
    assert (type(learners["cart"]), learners["cart"].criterion) == (Tree, "gini")
    assert (learners["svm"].kernel, learners["svm"].gamma, learners["svm"].C) == ("rbf", "auto", 1.0)


X2, Y2 = moons(40)
X3 = np.column_stack((X2, X2[:, 0]))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"method": "AdaBoost"}, "method='AdaBoost' is none of the toolbox. Choose one of 'ada_boost', 'real_boost'"),
        ({"method": None}, "method=None is none of the toolbox"),
        ({"baselearner": "tree"}, "baselearner='tree' is none of the toolbox. Choose one of 'stump', 'cart', 'svm'"),
        ({"M": 0}, "M must be an integer >= 1, the number of rounds; got 0."),
        ({"M": 2.5}, "M must be an integer >= 1, the number of rounds; got 2.5."),
        ({"X": [["a", "b"]] * 40}, "X must be a matrix of numbers, one row per example: could not convert"),
        ({"X": X2[:, 0]}, "X must be a matrix of numbers, one row per example: Expected 2D array"),
        ({"X": np.full((40, 2), np.inf)}, "X must be a matrix of numbers.*infinity"),
        ({"Y": Y2[:-1]}, r"Y has the shape \(39,\), but there are 40 rows. Give one label per row"),
        ({"Y": np.arange(40) % 3}, "Y has the labels 0, 1, 2, but must have -1 and .1, or 0 and 1. Recode"),
        ({"Y": ["yes", "no"] * 20}, "Y has the labels 'no', 'yes', but must have -1"),
        ({"Y": [None, 1] * 20}, "Y has the labels .*None.*, but must have -1"),
        ({"Y": [float("nan"), 1] * 20}, "Y has the labels .*nan.*, but must have -1"),
        ({"Y": np.ones(40)}, "Y has no row of class -1. Give examples of both classes."),
        ({"Y": np.zeros(40)}, r"Y has no row of class \+1. Give examples of both classes."),
        ({"c": 2}, "c=2 has no effect: method='ada_boost' has no parameter. Leave c out, or choose one of 'ada_c1'"),
        ({"method": "ada_c2"}, "method='ada_c2' needs c: what a miss of a positive example costs"),
        ({"method": "adaboost_reg"}, "method='adaboost_reg' needs c: how much mistrust"),
        ({"method": "weight_boost"}, "method='weight_boost' needs c: how strongly being sure dampens"),
        ({"method": "ada_c2", "c": 0}, "c=0 must be a number > 0 with method='ada_c2': what a miss"),
        ({"method": "ada_c2", "c": "high"}, "c='high' must be a number > 0"),
        ({"method": "ada_c2", "c": [[1.0], [1.0, 2.0]]}, "must be a number, or one number per row"),
        ({"method": "ada_c2", "c": ["a"] * 40}, "must be a number, or one number per row"),
        ({"method": "ada_c2", "c": [1.0, 2.0]}, r"c has the shape \(2,\), but X has 40 rows. Give one cost per row"),
        ({"method": "ada_cost", "c": np.zeros(40)}, "c has the entry 0.0, but method='ada_cost' needs costs that are"),
        ({"method": "weight_boost", "c": -0.5}, "c=-0.5 must be a number >= 0 with method='weight_boost'"),
        ({"method": "adaboost_reg", "c": np.ones(40)}, "must be a number >= 0 with method='adaboost_reg'"),
        ({"cv": 0}, "cv must be an integer >= 1, the number of folds; 1 for no cross-validation; got 0."),
        ({"cv": True}, "cv must be an integer >= 1"),
        ({"cv": 11}, "cv=11 folds need as many rows of each class, but the rarer has 10. Give cv=10 or less."),
        ({"random_state": 0}, "random_state=0 has no effect: it seeds the folds, and cv=1 makes none."),
        ({"testdata": X2}, r"testdata must be a pair \(X, Y\); got ndarray of length 40."),
        ({"testdata": 3}, r"testdata must be a pair \(X, Y\); got int."),
        ({"testdata": (X2, Y2[1:])}, r"Y of testdata has the shape \(39,\), but there are 40 rows"),
        ({"testdata": (X3, Y2)}, "X of testdata has 3 features, but X has 2. Give the same columns in the same order."),
        ({"plot": "on"}, "plot must be True or False, or 'yes' or 'no'; got 'on'."),
        ({"boundary": 1}, "boundary must be True or False, or 'yes' or 'no'; got 1."),
        ({"v": None}, "v must be True or False, or 'yes' or 'no'; got None."),
        ({"X": X3, "boundary": True}, "boundary=True draws a plane, but X has 3 features. Leave it out, or give two"),
    ],
)
def test_errors_name_the_argument_the_value_and_the_remedy(changed, message):
    arguments = {"X": X2, "Y": Y2, "method": "ada_boost", "baselearner": "stump", "M": 3} | changed
    with pytest.raises(ValueError, match=message):
        boost_learn(**arguments)


def test_without_pictures_matplotlib_is_not_even_imported():
    code = (
        "import sys; from skewboost.toolbox import boost_learn;"
        "boost_learn([[0.0], [1.0]], [-1, 1], 'ada_boost', 'stump', 2); print('matplotlib' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout == "False\n"


def test_a_model_must_be_one_of_the_toolbox():
    for function in (boost_eval, show_decision_boundary):
        with pytest.raises(TypeError, match="boost must be what boost_learn returns; got AdaBoostClassifier"):
            function(skewboost.AdaBoostClassifier(), X2, Y2)


# ------------------------------------------------------------------------------------------------------------ pictures


@pytest.mark.parametrize("option", ["plot", "boundary"])
def test_pictures_need_their_extra_before_any_training(monkeypatch, option):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    monkeypatch.setattr(skewboost.AdaBoostClassifier, "fit", lambda *a, **k: pytest.fail("trained"))
    with pytest.raises(ImportError, match=r'pip install "skewboost\[plots\]"'):
        boost_learn(X2, Y2, "ada_boost", "stump", 3, **{option: True})


@pytest.mark.parametrize(("cv", "test", "rows"), [(1, False, 1), (1, True, 1), (3, False, 1), (3, True, 2)])
def test_learning_curves_have_a_row_per_comparison(cv, test, rows):
    import matplotlib.pyplot as plt

    X, Y = moons()
    options = {"cv": cv, "random_state": 0} if cv > 1 else {}
    boost = boost_learn(X, Y, "ada_boost", "stump", 12, plot=True, testdata=(X, Y) if test else None, **options)
    axes = plt.gcf().axes
    assert len(axes) == 2 * rows
    for errors, shares in zip(axes[::2], axes[1::2]):
        assert len(errors.lines) == (2 if cv > 1 or test else 1)
        assert [line.get_label() for line in shares.lines] == ["precision", "recall", "F1"]
    if cv > 1:
        np.testing.assert_array_equal(axes[0].lines[0].get_ydata(), boost.cv_train.error)
        np.testing.assert_array_equal(axes[1].lines[2].get_ydata(), boost.cv_test.f1)
    if test:
        np.testing.assert_array_equal(axes[-2].lines[1].get_ydata(), boost.test.error)
    np.testing.assert_array_equal(axes[0].lines[0].get_xdata(), np.arange(1, 13))


def test_points_are_as_large_as_their_weights():
    X, Y = moons()
    boost = boost_learn(X, Y, "real_boost", "stump", 10)
    ax = show_decision_boundary(boost, X, Y)
    negatives, positives = (c for c in ax.collections if c.get_offsets().shape[0] in ((Y == -1).sum(), (Y == 1).sum()))
    weights = np.exp(-Y * boost_eval(boost, X))
    for drawn, rows in ((negatives, Y == -1), (positives, Y == 1)):
        np.testing.assert_array_equal(drawn.get_offsets(), X[rows])
        order = np.argsort(weights[rows])
        assert (np.diff(drawn.get_sizes()[order]) >= 0).all()
    assert max(negatives.get_sizes().max(), positives.get_sizes().max()) == pytest.approx(90)


def test_the_boundary_is_drawn_with_the_training():
    import matplotlib.pyplot as plt

    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(X2, columns=["width", "height"])
    boost = boost_learn(table, Y2, "cs_logitboost", "cart", 5, c=2, boundary="yes")
    ax = plt.gcf().axes[0]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("width", "height")
    assert ax.get_title() == f"cs_logitboost, c = 2: 5 trees\n{boost.train.after(-1)}"


def test_a_picture_without_a_boundary_is_drawn_too():
    ax = show_decision_boundary(boost_learn(np.zeros((8, 2)), [-1, 1] * 4, "ada_boost", "stump", 3), X2, Y2)
    assert "0 stumps (of 3, training ended early)" in ax.get_title()


def test_a_picture_needs_two_features():
    X, benign = load_breast_cancer(return_X_y=True)
    boost = boost_learn(X, benign, "ada_boost", "stump", 2)
    with pytest.raises(ValueError, match="draws a plane, but boost was trained on 30 features"):
        show_decision_boundary(boost, X, benign)
    with pytest.raises(ValueError, match="draws a plane, but X has 3 features"):
        show_decision_boundary(boost_learn(X2, Y2, "ada_boost", "stump", 2), X3, Y2)


def test_a_model_is_short_to_print():
    boost = boost_learn(X2, Y2, "ada_boost", "stump", 2)
    assert isinstance(boost, Boost)
    assert repr(boost) == "Boost(method='ada_boost', baselearner='stump', M=2)"
