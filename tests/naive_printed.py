"""More of the oracle: forms that papers print and that are options, and costs where the papers have none.

As in `naive`, everything is computed from the definitions, one stump at a time, and nothing is shared with the library.
Costs are (of a false alarm, of a miss). A round is a dict of the stump, what it adds, F and the weights it was fitted
with.
"""

from __future__ import annotations

import math

import numpy as np

import naive

TIE = 1e-10
NO_EDGE = 1e-12  # a smaller step ends the training


def stumps(X):
    """Every test: (feature, threshold, whether each row is on the right)."""
    for j in range(X.shape[1]):
        for t in naive.thresholds(X[:, j].tolist()):
            yield j, t, X[:, j] > t


def best(X, loss, relative=False):
    """The stump with the lowest loss: (loss, feature, threshold, right, what else the loss returned).

    Of those within 1e-10 of the lowest the first is taken.
    """
    found = [(value, j, t, right, *more) for j, t, right in stumps(X) for value, *more in loss(right)]
    lowest = min(each[0] for each in found)
    level = lowest + TIE * (abs(lowest) if relative else 1.0)
    return next(each for each in found if each[0] <= level)


def of_rows(costs, y):
    return np.array([costs[1] if label > 0 else costs[0] for label in y])


def as_round(found, left, right_value, F, w, **more):
    _, j, t, *_ = found
    return {"feature": j, "threshold": t, "leaves": (left, right_value), "F": F.copy(), "w": w.copy(), **more}


# ------------------------------------------------------------------------------------------ discrete


def errors_of(y, w):
    """The weighted error of both ways to label the two sides."""

    def loss(right):
        for sign in (1, -1):
            h = np.where(right, sign, -sign)
            yield sum(w[i] for i in range(len(y)) if h[i] != y[i]), h

    return loss


def discrete(X, y, n_rounds, w, alpha_of, factor_of):
    """Boosting of stumps with the lowest error; `alpha_of(w, yh)`, and weights times `factor_of(alpha, yh)`."""
    w, F, rounds = np.asarray(w, dtype=float) / np.sum(w), np.zeros(len(y)), []
    for _ in range(n_rounds):
        found = best(X, errors_of(y, w))
        h = found[-1]
        alpha = alpha_of(w, y * h)
        if abs(alpha) < NO_EDGE:
            break
        F = F + alpha * h
        sign = 1 if h[found[3]][0] > 0 else -1
        rounds.append(as_round(found, -sign * alpha, sign * alpha, F, w, alpha=alpha))
        w = w * factor_of(alpha, y * h)
        w = w / w.sum()
    return rounds


def bounded(plus, minus):
    """½ ln(plus / minus); the bound of 11.5 belongs to shares of 1e-10."""
    share = min(max(minus / (plus + minus), 1e-10), 1.0 - 1e-10)
    return 0.5 * math.log((1.0 - share) / share)


def adac1(X, y, n_rounds, costs):
    """[sun2005] (5), (11), for any costs."""
    c = of_rows(costs, y)

    def alpha_of(w, yh):
        return bounded(math.fsum(w * (1.0 + c * yh)), math.fsum(w * (1.0 - c * yh)))  # 1 ± r, without its rounding

    return discrete(X, y, n_rounds, np.ones(len(y)), alpha_of, lambda alpha, yh: np.exp(-alpha * c * yh))


def adac3(X, y, n_rounds, costs):
    """[sun2005] (7), (22), for any costs."""
    c = of_rows(costs, y)

    def alpha_of(w, yh):
        return bounded(math.fsum(c * w * (1.0 + c * yh)), math.fsum(c * w * (1.0 - c * yh)))

    return discrete(X, y, n_rounds, np.ones(len(y)), alpha_of, lambda alpha, yh: c * np.exp(-alpha * c * yh))


def adacost(X, y, n_rounds, costs):
    """[nyga2010] algorithm 8 from equal weights, with costs from 0 to 1."""
    c = of_rows(costs, y)

    def beta(yh):
        return np.array([0.5 * c[i] + 0.5 if yh[i] < 0 else -0.5 * c[i] + 0.5 for i in range(len(y))])

    def alpha_of(w, yh):
        r = sum(w * yh * beta(yh))
        return bounded(1.0 + r, 1.0 - r)

    return discrete(X, y, n_rounds, np.ones(len(y)), alpha_of, lambda alpha, yh: np.exp(-alpha * yh * beta(yh)))


def csb1(X, y, n_rounds, costs, cost_on="all"):
    """[sun2005] §2.2: no α at all."""
    c = of_rows(costs, y)

    def factor(alpha, yh):
        return np.where((yh < 0) | (cost_on == "all"), c, 1.0) * np.exp(-yh)

    return discrete(X, y, n_rounds, np.ones(len(y)), lambda w, yh: 1.0, factor)


def weightboost(X, y, n_rounds, costs, beta):
    """[nyga2010] algorithm 17 with ε weighted, and weights times costs."""
    c = of_rows(costs, y)
    w, F, rounds = c / c.sum(), np.zeros(len(y)), []
    for _ in range(n_rounds):
        found = best(X, errors_of(y, w))
        error, h = found[0], found[-1]
        alpha = 0.5 * math.log((1.0 - error) / error)
        F = np.array([F[i] + alpha * math.exp(-abs(beta * F[i])) * h[i] for i in range(len(y))])
        sign = 1 if h[found[3]][0] > 0 else -1
        rounds.append(as_round(found, -sign * alpha, sign * alpha, F, w, alpha=alpha))
        w = c * np.exp(-y * F - np.abs(beta * F))
        w = w / w.sum()
    return rounds


def root(slope, low, high):
    """Where a slope changes its sign from - to +, by bisection."""
    if slope(low) >= 0:
        return low
    if slope(high) <= 0:
        return high
    while high - low > 1e-15 * high:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
        if middle in (0.5 * (low + high), 0.0):
            break
    return 0.5 * (low + high)


def arcing(X, y, n_rounds, costs):
    """[cuendet2002] §1.5 with Σ c ln(1 + exp(-2 y F))."""
    c = of_rows(costs, y)

    def fall(margin):  # -f'
        return np.array([2.0 / (1.0 + math.exp(2.0 * m)) for m in margin])

    F, rounds = np.zeros(len(y)), []
    for _ in range(n_rounds):
        w = c * fall(y * F)
        w = w / w.sum()
        found = best(X, errors_of(y, w))
        h = found[-1]
        alpha = root(lambda a, h=h, F=F: -sum(c * y * h * fall(y * (F + a * h))), 0.0, 11.5)
        sign = 1 if h[found[3]][0] > 0 else -1
        F = F + alpha * h
        rounds.append(as_round(found, -sign * alpha, sign * alpha, F, w, alpha=alpha))
    return rounds


# ------------------------------------------------------------------------------------ values of leaves


def leaf_sums(y, w, right):
    """((W-, W+) on the left, (W-, W+) on the right)."""
    sums = np.zeros((2, 2))
    for i in range(len(y)):
        sums[int(right[i]), int(y[i] > 0)] += w[i]
    return sums.tolist()


def losses_of(criterion, y, w):
    def loss(right):
        (a, b), (c, d) = leaf_sums(y, w, right)
        for sign in (1, -1) if criterion.startswith("zbar") else (0,):
            yield naive.leaf_loss(criterion, a, b, -sign) + naive.leaf_loss(criterion, c, d, sign), sign

    return loss


def valued(X, y, n_rounds, criterion, value_of, factor_of):
    """Boosting of stumps that add `value_of(W-, W+, sign)`, and weights times `factor_of(g)`."""
    w, F, rounds = np.full(len(y), 1.0 / len(y)), np.zeros(len(y)), []
    for _ in range(n_rounds):
        found = best(X, losses_of(criterion, y, w))
        right, sign = found[3], found[4]
        on_left, on_right = leaf_sums(y, w, right)
        values = value_of(*on_left, -sign), value_of(*on_right, sign)
        g = np.where(right, values[1], values[0])
        F = F + g
        rounds.append(as_round(found, *values, F, w))
        w = w * factor_of(g)
        w = w / w.sum()
    return rounds


def half_log_odds(delta):
    """½ ln((W+ + δ) / (W- + δ)); the bound of 11.5 is that of all votes."""

    def value(a, b, sign=0):
        if a + delta == 0.0 or b + delta == 0.0:
            return 11.5 if b > a else -11.5
        return min(max(0.5 * math.log((b + delta) / (a + delta)), -11.5), 11.5)

    return value


def realboost(X, y, n_rounds, delta):
    """[nyga2010] algorithm 5 with the criterion Z and smoothed values."""
    return valued(X, y, n_rounds, "z", half_log_odds(delta), lambda g: np.exp(-y * g))


def rareboost(X, y, n_rounds, delta):
    """[nyga2010] algorithm 15: α⁺ = ½ ln(TP / FP) and α⁻ = ½ ln(TN / FN), each plus δ."""
    w, F, rounds = np.full(len(y), 1.0 / len(y)), np.zeros(len(y)), []
    log = half_log_odds(delta)
    for _ in range(n_rounds):
        found = best(X, errors_of(y, w))
        h = found[-1]
        tp, fp, tn, fn = (sum(w[(h == s) & (y == t)]) for s, t in ((1, 1), (1, -1), (-1, -1), (-1, 1)))
        g = np.where(h > 0, log(fp, tp), -log(fn, tn))
        F = F + g
        rounds.append(as_round(found, g[~found[3]][0], g[found[3]][0], F, w))
        w = w * np.exp(-y * g)
        w = w / w.sum()
    return rounds


def cs_realboost(X, y, n_rounds, costs, delta):
    """[masnadi2007] algorithm 2 from weights of 1/N: each leaf minimises b exp(-C+ g) + a exp(C- g), smoothed."""
    total, ratio = costs[0] + costs[1], costs[1] / costs[0]
    log = half_log_odds(delta)

    def value(a, b):
        return (2.0 * log(a, b) + math.log(ratio)) / total

    def loss_of_leaf(a, b):
        if delta == 0.0 and a * b == 0.0:
            return 0.0  # the minimum, which no vote reaches
        g = math.log((b + delta) / (a + delta) * ratio) / total
        return b * math.exp(-costs[1] * g) + a * math.exp(costs[0] * g)

    c = of_rows(costs, y)
    w, F, rounds = np.full(len(y), 1.0 / len(y)), np.zeros(len(y)), []
    for _ in range(n_rounds):
        found = best(X, lambda right, w=w: [(sum(loss_of_leaf(*own) for own in leaf_sums(y, w, right)),)])
        left, right = (value(*own) for own in leaf_sums(y, w, found[3]))
        g = np.where(found[3], right, left)
        F = F + g
        rounds.append(as_round(found, left, right, F, w))
        w = w * np.exp(-c * y * g)
        w = w / w.sum()
    return rounds


def consistent(X, y, n_rounds, c, delta):
    """[cuendet2002] §2.2 with w ∝ c exp(-y Σ_k H_k Q_k): F and the weights of every round, for a cost per row."""
    votes, rounds, F = {}, [], np.zeros(len(y))
    for _ in range(n_rounds):
        w = c * np.exp(-y * F)
        w = w / w.sum()
        found = best(X, losses_of("z", y, w))
        left, right = (half_log_odds(delta)(*own) for own in leaf_sums(y, w, found[3]))
        votes.setdefault(found[1], []).append(np.where(found[3], right, left))
        F = np.zeros(len(y))
        for of_feature in votes.values():
            for i in range(len(y)):
                cast = [vote[i] for vote in of_feature]
                size = sum(abs(vote) for vote in cast)
                F[i] += sum(cast) * (abs(sum(cast)) / size if size > 0 else 0.0)
        rounds.append({"feature": found[1], "F": F, "w": w})
    return rounds


def spread(X, y, n_rounds, costs, gentle, delta=None):
    """[nyga2010] algorithms 12 and 13: from 1/N, then w k^{y*} exp(-y f); k = c^(1/M) for each class."""
    k = of_rows(costs, y) ** (1.0 / n_rounds)
    delta = 1.0 / len(y) if delta is None else delta
    value = (lambda a, b, _: (b - a) / (a + b)) if gentle else half_log_odds(delta)
    return valued(X, y, n_rounds, "gini", value, lambda g: k * np.exp(-y * g))


def zbar_printed(X, y, n_rounds):
    """[cuendet2002] (1.9-2), (1.9-3): the absolute value of the log-odds, with the sign of the polarity."""
    plain = half_log_odds(1.0 / len(y))
    return valued(X, y, n_rounds, "zbar_printed", lambda a, b, s: s * abs(plain(a, b)), lambda g: np.exp(-y * g))


def favored_by_sign(X, y, n_rounds, costs, delta=None):
    """[cuendet2002] §2.4.3 and §2.4.5: β of Fan et al., for costs of at most 1."""
    c = of_rows(costs, y)

    def factor(g):
        beta = [0.5 + 0.5 * c[i] if y[i] * g[i] < 0 else 0.5 - 0.5 * c[i] for i in range(len(y))]
        return np.exp(-y * g * np.array(beta))

    return valued(X, y, n_rounds, "z", half_log_odds(1.0 / len(y) if delta is None else delta), factor)


# ------------------------------------------------------------------------------------- least squares


def fitted(X, z, w):
    """The stump whose means fit z best: (found, left, right)."""

    def loss(right):
        value = 0.0
        for side in (~right, right):
            mean = sum(w[side] * z[side]) / sum(w[side])
            value += sum(w[side] * (z[side] - mean) ** 2)
        yield (value,)

    # ties are told apart relative to what the means explain
    total = sum(w * z * z)
    found = best(X, lambda right: ((value - total,) for (value,) in loss(right)), relative=True)
    right = found[3]
    return found, *(sum(w[side] * z[side]) / sum(w[side]) for side in (~right, right))


def cslb(X, y, n_rounds, ratio):
    """[nyga2010] algorithm 14: p = 1/(1 + k) in round 1, 1/(1 + k^(m-1) exp(-2F)) in round m > 1."""
    k = ratio ** (1.0 / n_rounds)
    F, rounds = np.zeros(len(y)), []
    p = np.full(len(y), 1.0 / (1.0 + k))
    for m in range(1, n_rounds + 1):
        z, w = ((y + 1) / 2 - p) / (p * (1 - p)), p * (1 - p)
        found, left, right = fitted(X, z, w)
        F = F + 0.5 * np.where(found[3], right, left)
        rounds.append(as_round(found, 0.5 * left, 0.5 * right, F, w))
        p = 1.0 / (1.0 + k**m * np.exp(-2.0 * F))
    return rounds


def cs_logitboost(X, y, n_rounds, costs, max_step=4.0):
    """[masnadi2007] algorithm 3 with (54), (55) and F = 0, pc = p = ½; a round changes γ F by at most `max_step`."""
    gamma, eta = (costs[0] + costs[1]) / 2, 0.5 * math.log(costs[0] / costs[1])
    F, rounds = np.zeros(len(y)), []
    pc = p = np.full(len(y), 0.5)
    for _ in range(n_rounds):
        z, w = ((y + 1) / 2 - pc) / (pc * (1 - pc)), p * (1 - p)
        found, left, right = fitted(X, z, w)
        left, right = (min(max(value / (2 * gamma), -max_step / gamma), max_step / gamma) for value in (left, right))
        F = F + np.where(found[3], right, left)
        rounds.append(as_round(found, left, right, F, w))
        p = np.exp(F) / (np.exp(F) + np.exp(-F))
        pc = 1.0 / (1.0 + np.exp(-2.0 * (gamma * F + eta)))
    return rounds


def cs_gentleboost(X, y, n_rounds, costs):
    """Newton steps on Σ exp(-c y F), cut to a change of the log-odds of 2, and to the minimum of the loss."""
    c = of_rows(costs, y)
    w, F, rounds = np.full(len(y), 1.0 / len(y)), np.zeros(len(y)), []
    most = 2.0 / (costs[0] + costs[1])
    for _ in range(n_rounds):
        found, *_ = fitted(X, y / c, w * c * c)
        values = []
        for side in (~found[3], found[3]):
            slope = -sum(c[side] * y[side] * w[side])  # of the loss of the leaf at 0
            values.append(min(max(-slope / sum(c[side] ** 2 * w[side]), -most), most))
        g = np.where(found[3], values[1], values[0])
        part = root(lambda a, g=g, w=w: -sum(w * c * y * g * np.exp(-a * c * y * g)), 0.0, 1.0)
        F = F + part * g
        rounds.append(as_round(found, part * values[0], part * values[1], F, w * c * c))
        w = w * np.exp(-c * y * part * g)
        w = w / w.sum()
    return rounds


# --------------------------------------------------------------------------------------- soft margins


class SoftMargins:
    """Σ c exp(-scale (Σ_r β y h_r + C A μ^p)), from the votes of all rounds and the weights that they had."""

    def __init__(self, y, c, beta, C, p, signed, scale=1.0):
        self.y, self.c, self.beta, self.C, self.p, self.signed, self.scale = y, c, beta, C, p, signed, scale
        self.votes, self.weights = [], []

    def history(self, i):
        """The margin of a row, A and T = Σ α|h| w."""
        margin = total = influence = 0.0
        for h, w in zip(self.votes, self.weights):
            margin += self.beta(self.y[i] * h[i], i) * self.y[i] * h[i]
            total += abs(h[i])
            influence += (h[i] if self.signed else abs(h[i])) * w[i]
        return margin, total, influence

    def terms(self):
        """c exp(…) per row."""
        found = []
        for i in range(len(self.y)):
            margin, total, influence = self.history(i)
            slack = total * (influence / total) ** self.p if total > 0 else 0.0
            found.append(self.c[i] * math.exp(-self.scale * (margin + self.C * slack)))
        return np.array(found)

    def add(self, h, w):
        self.votes.append(h)
        self.weights.append(w)


class Path:
    """The terms after a step t along h, as functions of t; w are the weights for the influence."""

    def __init__(self, soft, h, w):
        self.soft, self.before = soft, soft.terms()
        rows = range(len(soft.y))
        self.total, self.influence = np.array([soft.history(i)[1:] for i in rows]).T
        self.margin = np.array([soft.beta(soft.y[i] * h[i], i) * soft.y[i] * h[i] for i in rows])
        self.size, self.own = np.abs(h), (h if soft.signed else np.abs(h)) * w

    def sums(self, t, rows, smoothing=()):
        """The sum over some rows and its slope at each t; `smoothing` are (weight, growth) of imaginary examples."""
        t, p, C = np.atleast_1d(t)[:, None], self.soft.p, self.soft.C
        total, influence, size, own, margin = (
            each[rows] for each in (self.total, self.influence, self.size, self.own, self.margin)
        )
        A, T = total + t * size, influence + t * own
        alone = np.divide(own, size, out=np.zeros_like(own), where=size > 0)  # the mean if A = 0
        mean = np.where(A > 0, T / np.where(A > 0, A, 1.0), alone)
        was = np.where(total > 0, influence / np.where(total > 0, total, 1.0), 0.0)
        slack = A * mean**p - total * was**p
        moves = p * mean ** (p - 1) * own - (p - 1) * mean**p * size
        each = self.before[rows] * np.exp(-self.soft.scale * (margin * t + C * slack))
        slope = (each * -self.soft.scale * (margin + C * moves)).sum(axis=1)
        value = each.sum(axis=1)
        for weight, grows in smoothing:
            value = value + weight * np.exp(grows * t[:, 0])
            slope = slope + weight * grows * np.exp(grows * t[:, 0])
        return value, slope

    def lowest(self, limit, rows, smoothing=()):
        """The t in [0, limit] with the lowest sum: the best of a fine grid, refined between its neighbours."""
        grid = np.concatenate(([0.0], np.geomspace(1e-5, 1.0, 300))) * limit
        values, slopes = self.sums(grid, rows, smoothing)
        k = int(np.argmin(values))
        low, high = (grid[k], grid[min(k + 1, 300)]) if slopes[k] < 0 else (grid[max(k - 1, 0)], grid[k])
        return root(lambda t: float(self.sums(t, rows, smoothing)[1][0]), low, high)


def adaboost_reg(X, y, n_rounds, costs, C, p):
    """[nyga2010] algorithm 16 with Σ c exp(-½ρ̃); the influence is of weights without the costs."""
    c = of_rows(costs, y)
    c = c / c.mean()
    soft = SoftMargins(y, c, lambda yh, i: 1.0, C, p, False, scale=0.5)
    rounds, F = [], np.zeros(len(y))
    for _ in range(n_rounds):
        w = soft.terms() / soft.terms().sum()
        found = best(X, errors_of(y, w))
        h = found[-1]
        alpha = Path(soft, h, w / c).lowest(23.0, np.arange(len(y)))
        if alpha < NO_EDGE:
            break
        soft.add(alpha * h, w / c)
        F = F + alpha * h
        sign = 1 if h[found[3]][0] > 0 else -1
        rounds.append(as_round(found, -sign * alpha, sign * alpha, F, w, alpha=alpha))
    return rounds


def favor_of(beta, costs, y):
    """β: the cost of the row, or Fan's function of the sign of the vote and the cost."""
    c = of_rows(costs, y)
    if beta == "label":
        return lambda yh, i: c[i]
    return lambda yh, i: 0.5 + 0.5 * c[i] if yh < 0 else 0.5 - 0.5 * c[i]


def soft_margin_step(X, y, n_rounds, costs, C, p, signed, beta, delta=None):
    """[cuendet2002] §2.4.4, end: the stump of confidence-rated AdaBoost, times the best step."""
    soft = SoftMargins(y, np.ones(len(y)), favor_of(beta, costs, y), C, p, signed)
    rounds, F, n = [], np.zeros(len(y)), len(y)
    log = half_log_odds(1.0 / n if delta is None else delta)
    for _ in range(n_rounds):
        w = soft.terms() / soft.terms().sum()
        found = best(X, losses_of("z", y, w))
        left, right = (log(*sums) for sums in leaf_sums(y, w, found[3]))
        h = np.where(found[3], right, left)
        alpha = Path(soft, h, w).lowest(11.5 / np.abs(h).max(), np.arange(n))
        if alpha < NO_EDGE:
            break
        soft.add(alpha * h, w)
        F = F + alpha * h
        rounds.append(as_round(found, alpha * left, alpha * right, F, w, alpha=alpha))
    return rounds


def leaf_of_full_search(soft, w, beta, costs, delta=None):
    """A function of rows and a sign: (smoothed sum, sum, value) at the minimum over values of that sign.

    Sums are relative to weights that sum to one. The smoothing are two imaginary examples, by default of weight 1/N.
    """
    n, scale = len(soft.y), soft.terms().sum()
    delta = 1.0 / n if delta is None else delta
    favor = favor_of(beta, costs, np.array([-1.0, 1.0]))
    rates = [(favor(1.0, int(sign > 0)), favor(-1.0, int(sign < 0))) for sign in (1, -1)]
    most = 2.0 * half_log_odds(delta)(0.0, 1.0)  # the log-odds of a pure leaf with all of the weight
    limit = max(11.5, *((most + math.log(max(right / wrong, 1.0))) / (right + wrong) for right, wrong in rates))
    paths = {sign: Path(soft, np.full(n, float(sign)), w) for sign in (1, -1)}

    def leaf(rows, sign):
        right, wrong = favor(1.0, int(sign > 0)), favor(-1.0, int(sign < 0))
        smoothing = [(scale * delta, -right), (scale * delta, wrong)]
        size = paths[sign].lowest(limit, rows, smoothing)
        smoothed, alone = (paths[sign].sums(size, rows, more)[0][0] / scale for more in (smoothing, ()))
        return smoothed, alone, sign * size

    return leaf


def soft_margin_full(X, y, n_rounds, costs, C, p, signed, beta, forced=True, delta=None):
    """[cuendet2002] §2.4.4: the minimum of Z̃ for every split and both polarities, leaf by leaf."""
    soft = SoftMargins(y, np.ones(len(y)), favor_of(beta, costs, y), C, p, signed)
    rounds, F = [], np.zeros(len(y))
    for _ in range(n_rounds):
        w = soft.terms() / soft.terms().sum()
        leaf = leaf_of_full_search(soft, w, beta, costs, delta=delta)

        def loss(right, leaf=leaf):
            each = [{sign: leaf(np.flatnonzero(side), sign) for sign in (1, -1)} for side in (~right, right)]
            choices = [(each[0][-sign], each[1][sign]) for sign in (1, -1)]
            for a, b in choices if forced else [tuple(min(own.values()) for own in each)]:
                yield a[1] + b[1], a[2], b[2]

        found = best(X, loss)
        left, right = found[4:]
        g = np.where(found[3], right, left)
        soft.add(g, w)
        F = F + g
        rounds.append(as_round(found, left, right, F, w, criterion=found[0]))
    return rounds
