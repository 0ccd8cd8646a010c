"""The toolbox of chapter 4 of Nyga's thesis: its names, its options, its example, and which estimators they are."""

from __future__ import annotations

import sys

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.metrics import precision_recall_fscore_support
from sklearn.model_selection import StratifiedKFold

import naive_printed as naive
import skewboost
from skewboost.learners import Stump
from skewboost.toolbox import (
    CART_LEAVES,
    METHODS,
    Curves,
    boost_eval,
    boost_learn,
    show_decision_boundary,
    show_learning_curves,
)

mpl.use("Agg")

# The list in section 4.2 of the thesis, in its order
NAMES = (
    *("ada_boost", "real_boost", "gentle_boost", "logit_boost", "ada_c1", "ada_c2", "ada_c3", "ada_cost"),
    *("cs_realboost", "cs_gentleboost", "cs_logitboost", "rare_boost", "adaboost_reg", "weight_boost"),
)
C = {"ada_c1": 1.2, "ada_c2": 1.2, "ada_c3": 1.2, "adaboost_reg": 5.0, "weight_boost": 0.5}
C |= dict.fromkeys(("cs_realboost", "cs_gentleboost", "cs_logitboost"), 3.0)


def moons(n_rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_moons((n_rows - n_rows // 4, n_rows // 4), noise=0.3, random_state=seed)
    return X, np.where(y == 1, 1, -1)


X, Y = moons(120)
C["ada_cost"] = 0.5


@pytest.fixture(autouse=True)
def close_figures():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


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
    show_decision_boundary(boost, X, Y)
    assert boost.train.error[-1] < 0.0169  # the Bayes error of these clusters, Φ(-3 / √2)
    assert np.mean(np.sign(boost_eval(boost, X)) == Y.ravel()) == 1 - boost.train.error[-1]
    assert repr(boost) == "Boost(method='ada_boost', baselearner='stump', M=50)"


def test_the_names_are_those_of_the_thesis():
    assert tuple(METHODS) == NAMES


@pytest.mark.sample(8)
@pytest.mark.parametrize("method", NAMES)
def test_every_method_learns_with_every_base_learner(method):
    for baselearner in ("stump", "cart", "svm"):
        if baselearner == "svm" and method in ("logit_boost", "cs_logitboost"):
            with pytest.raises(ValueError, match=f"baselearner='svm' predicts labels, but method='{method}'"):
                boost_learn(X, Y, method, baselearner, 4, c=C.get(method))
            continue
        boost = boost_learn(X, Y, method, baselearner, 4, c=C.get(method))
        assert boost.train.f1[-1] > 0.5
        assert len(boost.train.error) == boost.M == 4
        np.testing.assert_array_equal(boost_eval(boost, X) >= 0, boost.estimator.predict(X) == 1)


@pytest.mark.parametrize(
    ("method", "estimator"),
    [
        ("ada_c1", skewboost.AdaC1Classifier(alpha="nyga", cost=1.2)),
        ("ada_c3", skewboost.AdaC3Classifier(cost=1.2, as_printed=True)),
        ("ada_cost", skewboost.AdaCostClassifier(cost={-1: 0, 1: 0.5}, initial="equal")),
        ("cs_realboost", skewboost.CSRAClassifier(cost=3.0, as_printed=True)),
        ("cs_gentleboost", skewboost.CSGAClassifier(cost=3.0, as_printed=True)),
        ("adaboost_reg", skewboost.AdaBoostRegClassifier(C=5.0, p=1.0)),
        ("weight_boost", skewboost.WeightBoostClassifier(beta=0.5)),
    ],
)
def test_c_is_the_parameter_of_the_estimator(method, estimator):
    boost = boost_learn(X, Y, method, "stump", 10, c=C[method])
    stump = Stump(criterion="error", constant=True)
    direct = estimator.set_params(estimator=stump, n_estimators=10, pos_label=1).fit(X, Y)
    np.testing.assert_array_equal(boost_eval(boost, X), direct.decision_function(X))


@pytest.mark.parametrize(
    ("method", "c", "expected"),
    [
        ("ada_c3", 1.1, lambda X, y: naive.adac3(X, y, 10, (1.0, 1.1))),
        ("ada_c3", 1.3, lambda X, y: naive.adac3(X, y, 10, (1.0, 1.3))),
        ("ada_cost", 0.5, lambda X, y: naive.adacost(X, y, 10, (0.0, 0.5))),
        ("ada_cost", 1, lambda X, y: naive.adacost(X, y, 10, (0.0, 1.0))),
        ("logit_boost", None, lambda X, y: naive.cslb(X, y, 6, 1.0)),
        ("cs_logitboost", 8.0, lambda X, y: naive.cslb(X, y, 6, 8.0)),
        ("cs_logitboost", 500.0, lambda X, y: naive.cslb(X, y, 3, 500.0)),
    ],
)
def test_algorithms_are_those_that_the_thesis_prints(method, c, expected):
    """Against plain loops; the last one has steps of more than 4."""
    rounds = expected(X, Y.astype(float))
    boost = boost_learn(X, Y, method, "stump", len(rounds), c=c)
    for F, round_ in zip(boost.estimator.staged_decision_function(X), rounds, strict=True):
        got = F - F.mean() if method == "cs_logitboost" else F  # stages include the costs of the rounds to come
        wanted = round_["F"] - round_["F"].mean() if method == "cs_logitboost" else round_["F"]
        np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(boost_eval(boost, X), rounds[-1]["F"], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("c", [0, 0.5, 0.9])
def test_adacost_separates_the_clusters_of_the_thesis(c):
    """With negatives of cost 1 a cost of ½ would make positives the cheaper class; most of both would be missed."""
    randn = np.random.default_rng(0).standard_normal
    points = np.vstack((randn((300, 2)), randn((300, 2)) + 3))
    F = boost_eval(boost_learn(points, np.repeat([1, -1], 300), "ada_cost", "stump", 30, c=c), points)
    assert (F[:300] >= 0).mean() > 0.9
    assert (F[300:] < 0).mean() > 0.9


def test_a_cost_of_zero_per_row_is_the_cost_of_the_class():
    one = boost_learn(X, Y, "ada_cost", "stump", 8, c=0.6)
    for each in (np.where(Y == 1, 0.6, 0.0), np.where(Y == 1, 0.6, 0.0)[:, None]):
        np.testing.assert_allclose(boost_eval(boost_learn(X, Y, "ada_cost", "stump", 8, c=each), X), boost_eval(one, X))


def test_options_may_be_pairs_of_names_and_values(capsys):
    by_pairs = boost_learn(X, Y, "ada_c2", "stump", 5, "c", 2)
    np.testing.assert_array_equal(boost_eval(by_pairs, X), boost_eval(boost_learn(X, Y, "ada_c2", "stump", 5, c=2), X))
    both = boost_learn(X, Y, "ada_c2", "stump", 5, "c", 2, "cv", 3, "testdata", (X, Y), "v", "no", random_state=0)
    assert [line.split(":")[0] for line in capsys.readouterr().out.splitlines()] == [
        "ada_c2, 5 rounds, test data",
        "ada_c2, 5 rounds, 3-fold cross-validation",
    ]
    assert both.c == 2
    assert both.test.error[-1] == both.train.error[-1]


@pytest.mark.parametrize(
    ("pairs", "options", "message"),
    [
        (("c",), {}, "'c' is left over of the pairs of names and values. Give a value after each name, as in 'c', 2."),
        (("cost", 2), {}, "'cost' is not the name of an option. Choose one of c, cv, testdata, plot, boundary, v, ran"),
        ((2, "c"), {}, "2 is not the name of an option"),
        (("c", 2, "c", 3), {}, "'c' is given twice. Give each option once, as a pair or as a keyword."),
        (("c", 2), {"c": 2}, "'c' is given twice"),
        (("cv", 0, "c", 2), {}, "cv=0 must be an integer >= 1"),
        (("plot", "on", "c", 2), {}, "plot='on' must be True or False"),
    ],
)
def test_pairs_that_make_no_sense(pairs, options, message):
    with pytest.raises(ValueError, match=message):
        boost_learn(X, Y, "ada_c2", "stump", 3, *pairs, **options)


@pytest.mark.parametrize("c", [1.2, -0.1, "0.5", np.where(Y == 1, 2.0, 1.0), np.full(120, np.nan)], ids=str)
def test_costs_of_adacost_are_from_0_to_1(c):
    with pytest.raises(ValueError, match="costs that are not numbers from 0 to 1, as method='ada_cost' needs them"):
        boost_learn(X, Y, "ada_cost", "stump", 3, c=c)


def test_trees_have_three_leaves_and_every_cut_is_tried():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(400, 2))
    labels = np.where(points[:, 0] * points[:, 1] > 0, 1, -1)
    cart = boost_learn(points, labels, "real_boost", "cart", 5).estimator
    assert {len(term.values) for term in cart.estimators_} == {CART_LEAVES} == {3}
    # one row differs from all others by less than the width of a quantile
    line, alone = np.sort(rng.normal(size=(600, 1)), axis=0), 301
    stump = boost_learn(line, np.where(np.arange(600) >= alone, 1, -1), "ada_boost", "stump", 1)
    assert stump.train.error[0] == 0


def test_a_cost_per_row_and_the_same_cost_as_a_number_agree():
    one = boost_learn(X, Y, "ada_c2", "cart", 10, c=1.5)
    each = boost_learn(X, Y, "ada_c2", "cart", 10, c=np.where(Y == 1, 1.5, 1.0)[:, None])
    np.testing.assert_allclose(boost_eval(one, X), boost_eval(each, X))


def test_adaboost_solves_three_points_and_adac1_oscillates():
    """Figure 2.3: costs c = 3 of the middle point, 10 rounds."""
    points, labels = [[1.0], [2.0], [3.0]], [-1, 1, -1]
    plain = boost_learn(points, labels, "ada_boost", "stump", 10)
    assert (plain.train.error[3:] == 0).all()
    costly = boost_learn(points, labels, "ada_c1", "stump", 10, c=3)
    assert (costly.train.error > 0).any()
    assert len(set(costly.train.recall[5:])) == 2


def test_measures_are_those_of_scikit_learn():
    train = boost_learn(X, Y, "real_boost", "stump", 8).train
    boost = boost_learn(X, Y, "real_boost", "stump", 8)
    for m, predicted in enumerate(boost.estimator.staged_predict(X)):
        precision, recall, f1, _ = precision_recall_fscore_support(Y, predicted, average="binary", pos_label=1)
        got = train.error[m], train.precision[m], train.recall[m], train.f1[m]
        assert got == pytest.approx((np.mean(predicted != Y), precision, recall, f1))


def test_undefined_measures_are_nan_and_left_out_of_means():
    some = Curves(*np.array([[0.1], [0.4], [0.3], [0.2]]))
    none = Curves.of([np.array([-1.0, -1.0])], np.array([1, -1]))
    assert none.after(1) == "error 0.500, precision -, recall 0.000, F1 0.000"
    assert Curves.mean([some, none]).after(-1) == "error 0.300, precision 0.400, recall 0.150, F1 0.100"
    assert np.isnan(Curves.mean([none, none]).precision[0])
    with pytest.raises(ValueError, match="m=2 must be a round from 1 to 1"):
        some.after(2)


def test_curves_repeat_the_last_value_where_training_ended():
    boost = boost_learn([[0.0], [1.0]] * 5, [-1, 1] * 5, "ada_boost", "stump", 7)
    assert boost.estimator.n_estimators_ == 1
    np.testing.assert_array_equal(boost.train.f1, np.ones(7))
    constant = boost_learn(np.zeros((8, 1)), [-1, 1] * 4, "real_boost", "stump", 3)
    np.testing.assert_array_equal(constant.train.error, np.full(3, 0.5))


def test_labels_may_be_zero_and_one_a_column_or_booleans():
    expected = boost_eval(boost_learn(X, Y, "ada_boost", "stump", 5), X)
    for labels in ((Y + 1) // 2, Y == 1, Y[:, None], Y.astype(float), Y.tolist()):
        np.testing.assert_array_equal(boost_eval(boost_learn(X, labels, "ada_boost", "stump", 5), X), expected)
    common = boost_learn(X, -Y, "ada_boost", "stump", 5)
    assert common.estimator.pos_label_ == 1


def test_test_data_are_measured_and_printed(capsys):
    X_test, Y_test = moons(100, 1)
    boost = boost_learn(X, Y, "ada_boost", "stump", 6, testdata=(X_test, Y_test))
    assert capsys.readouterr() == (f"ada_boost, 6 rounds, test data: {boost.test.after(-1)}\n", "")
    boost_eval(boost, X_test, (Y_test + 1) // 2)
    assert capsys.readouterr().out == f"ada_boost on 100 rows: {boost.test.after(-1)}\n"
    boost_eval(boost, X_test)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("per_row", [False, True])
def test_cross_validation_is_the_mean_over_stratified_folds(capsys, per_row):
    c = np.linspace(1, 2, len(Y)) if per_row else 1.5
    boost = boost_learn(X, Y, "cs_realboost", "stump", 6, c=c, cv=3, random_state=3)
    assert capsys.readouterr().out.startswith("cs_realboost, 6 rounds, 3-fold cross-validation: error 0.")
    errors = []
    for rows, others in StratifiedKFold(3, shuffle=True, random_state=3).split(X, Y):
        fold = boost_learn(X[rows], Y[rows], "cs_realboost", "stump", 6, c=c[rows] if per_row else c)
        errors.append((fold.train.error[-1], np.mean(np.sign(boost_eval(fold, X[others])) != Y[others])))
    assert (boost.cv_train.error[-1], boost.cv_test.error[-1]) == pytest.approx(tuple(np.mean(errors, axis=0)))


def test_nothing_is_printed_unless_asked_for(capsys):
    quiet = boost_learn(X, Y, "ada_boost", "stump", 5, v="no", plot="no", boundary="no")
    assert capsys.readouterr() == ("", "")
    assert (quiet.test, quiet.cv_train, quiet.cv_test) == (None, None, None)
    boost_learn(X, Y, "ada_boost", "stump", 5, v="yes", cv=2, random_state=0)
    output = capsys.readouterr()
    assert output.err.count("5/5") == 3
    assert [line.split(":")[0] for line in output.out.splitlines()] == [
        "ada_boost, 5 rounds, training data",
        "ada_boost, 5 rounds, fold 1 of 2",
        "ada_boost, 5 rounds, fold 2 of 2",
        "ada_boost, 5 rounds, 2-fold cross-validation",
    ]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"method": "AdaBoost"}, "method='AdaBoost' is not a method of the toolbox. Choose one of ada_boost, real_b"),
        ({"baselearner": "tree"}, "baselearner='tree' is unknown. Choose one of stump, cart, svm"),
        ({"M": 0}, "n_estimators .* must be an integer >= 1; got 0"),
        ({"Y": Y[:-1]}, "inconsistent numbers of samples"),
        ({"Y": np.arange(120) % 3}, "Y has other labels than -1 and .1, or 0 and 1"),
        ({"Y": ["yes", "no"] * 60}, "Y has other labels"),
        ({"Y": [float("nan"), 1] * 60}, "Y has other labels"),
        ({"c": 2}, "c=2 has no effect, because method='ada_boost' has no parameter"),
        ({"method": "ada_c2"}, "method='ada_c2' needs c, the parameter `cost` of AdaC2Classifier"),
        ({"cv": 0}, "cv=0 must be an integer >= 1"),
        ({"cv": 31, "random_state": 0}, "cv=31 is more than the 30 rows of the rarer class. Set cv=30 or less."),
        ({"random_state": 0}, "random_state=0 has no effect with cv=1"),
        ({"plot": "on"}, "plot='on' must be True or False, or 'yes' or 'no'"),
        ({"X": np.ones((120, 3)), "boundary": True}, "trained on 3 features, but a decision boundary needs two"),
    ],
)
def test_errors_name_the_argument_the_value_and_the_remedy(changed, message):
    arguments = {"X": X, "Y": Y, "method": "ada_boost", "baselearner": "stump", "M": 3} | changed
    with pytest.raises(ValueError, match=message):
        boost_learn(**arguments)


def test_a_model_must_be_one_of_the_toolbox():
    with pytest.raises(TypeError, match="boost must be the result of boost_learn; got AdaBoostClassifier"):
        boost_eval(skewboost.AdaBoostClassifier(), X, Y)


def test_pictures_need_their_extra_before_any_training(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    monkeypatch.setattr(skewboost.AdaBoostClassifier, "fit", lambda *a, **k: pytest.fail("trained"))
    with pytest.raises(ImportError, match=r'pip install "skewboost\[plots\]"'):
        boost_learn(X, Y, "ada_boost", "stump", 3, plot=True)


def test_learning_curves_have_a_row_per_comparison():
    boost = boost_learn(X, Y, "ada_boost", "stump", 6, testdata=(X, Y), cv=2, random_state=0)
    axes = show_learning_curves(boost).axes
    assert [len(ax.lines) for ax in axes] == [2, 3, 2, 3]
    np.testing.assert_array_equal(axes[0].lines[0].get_ydata(), boost.cv_train.error)
    np.testing.assert_array_equal(axes[1].lines[2].get_ydata(), boost.cv_test.f1)
    np.testing.assert_array_equal(axes[2].lines[1].get_ydata(), boost.test.error)


def test_plot_and_boundary_draw_the_result():
    import matplotlib.pyplot as plt

    plt.close("all")  # of other tests
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(X, columns=["width", "height"])
    boost = boost_learn(table, Y, "cs_logitboost", "cart", 5, c=2, plot="yes", boundary="yes")
    curves, boundary = (plt.figure(k).axes for k in plt.get_fignums())
    assert [len(ax.lines) for ax in curves] == [1, 3]
    assert (boundary[0].get_xlabel(), boundary[0].get_ylabel()) == ("width", "height")
    assert boundary[0].get_title() == f"cs_logitboost, c = 2: 5 rounds of cart\n{boost.train.after(-1)}"
