"""A generated table of card payments, of which 2 % are fraud."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skewboost.datasets._checks import checked_count, checked_rng, import_pandas

Columns = dict[str, NDArray[Any]]

FRAUD_RATE = 0.02
SHARPNESS = 1.8  # the scale of the log-odds: larger is easier; here boosting finds about half of the frauds
HOME = "DE"

# merchant: proportion of payments, mean of ln(amount), proportion paid with the card present
MERCHANTS = {
    "clothing": (0.12, 3.9, 0.50),
    "electronics": (0.07, 4.8, 0.40),
    "fuel": (0.12, 3.9, 0.98),
    "gaming": (0.07, 2.7, 0.02),
    "gift cards": (0.04, 3.4, 0.20),
    "grocery": (0.32, 3.3, 0.92),
    "restaurant": (0.20, 3.1, 0.85),
    "travel": (0.06, 5.2, 0.15),
}
COUNTRIES = {HOME: 0.80, "AT": 0.06, "FR": 0.05, "NL": 0.04, "US": 0.03, "SG": 0.02}
ONLINE_DEVICES = {"phone": 0.55, "laptop": 0.35, "tablet": 0.10}


def make_fraud(n_rows: int = 20_000, random_state: int = 0) -> tuple[Any, Any]:
    """Generate card payments, 2 % of them fraudulent.

    There are three kinds of fraud: card details that are tried out online in quick succession, taken-over accounts
    that buy what can be resold, and stolen cards far from home. Each kind shows best in several columns together, and
    there is noise, so that no classifier finds every case. Some cells are missing at random. Others are informative:
    payments over a hidden connection often have neither a device nor a distance.

    Parameters
    ----------
    n_rows : int, default=20_000
        The number of payments, at least 100.
    random_state : int, default=0
        The seed of the generator.

    Returns
    -------
    X : pandas.DataFrame of shape (n_rows, 10)
        Six numeric columns, three of them with missing values, three categorical ones, one of them with missing
        values, and a boolean one.
    y : pandas.Series
        1 for fraud (2 % of the rows, rounded), 0 otherwise.

    Examples
    --------
    >>> from skewboost.datasets import make_fraud
    >>> X, y = make_fraud(n_rows=1000)
    >>> X.shape
    (1000, 10)
    >>> int(y.sum())
    20
    >>> X["merchant"].cat.categories[:3].tolist()
    ['clothing', 'electronics', 'fuel']
    """
    pd = import_pandas()
    n_rows = checked_count("n_rows", n_rows, 100, None, "for at least two frauds")
    rng = checked_rng(random_state)
    columns = _payments(rng, n_rows)
    hidden = ~columns["card_present"] & (rng.random(n_rows) < 0.08)
    # The threshold is a quantile, so that the proportion of fraud is the same for every seed and size.
    risk = _risk(columns, hidden) + rng.logistic(size=n_rows)
    fraud = np.zeros(n_rows, dtype=np.int64)
    fraud[np.argsort(risk)[-round(FRAUD_RATE * n_rows) :]] = 1
    _remove_cells(rng, columns, hidden)
    X = pd.DataFrame(columns).astype(dict.fromkeys(("merchant", "country", "device"), "category"))
    return X, pd.Series(fraud, name="fraud")


def _payments(rng: np.random.Generator, n: int) -> Columns:
    """Generate all columns, without missing cells."""
    names = np.array(list(MERCHANTS))
    proportions, log_amounts, present = np.array(list(MERCHANTS.values())).T
    shop = rng.choice(len(names), size=n, p=proportions)
    card_present = rng.random(n) < present[shop]
    country = rng.choice(list(COUNTRIES), size=n, p=list(COUNTRIES.values()))
    abroad = country != HOME
    kilometres = rng.lognormal(np.where(abroad & card_present, 6.3, 1.8), 1.1)
    online = rng.choice(list(ONLINE_DEVICES), size=n, p=list(ONLINE_DEVICES.values()))
    reader = np.where(rng.random(n) < 0.6, "contactless", "chip")
    return {
        "amount": rng.lognormal(log_amounts[shop], 0.8).round(2),
        "hour": np.mod(np.round(rng.normal(15.0, 4.5, n)), 24).astype(np.int64),
        "days_since_last_payment": rng.exponential(3.0, n).round(1),
        "payments_last_day": rng.poisson(rng.gamma(1.5, 1.0, n)),
        "distance_from_home": kilometres.round(1),
        "account_age_days": np.ceil(rng.exponential(900.0, n)),
        "merchant": names[shop],
        "country": country,
        "card_present": card_present,
        "device": np.where(card_present, reader, online).astype(object),
    }


def _risk(c: Columns, hidden: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the log-odds of fraud, up to a constant."""
    online, abroad = ~c["card_present"], c["country"] != HOME
    night = (c["hour"] >= 23) | (c["hour"] <= 5)
    resold = np.isin(c["merchant"], ("electronics", "gift cards", "travel"))
    trial = online & (c["payments_last_day"] >= 4) & (c["amount"] < 30)
    stolen = ~online & (c["distance_from_home"] > 300) & (c["days_since_last_payment"] < 1)
    takeover = (online & resold) * (0.5 + night + 1.2 * hidden) * np.clip(np.log(c["amount"] / 60), 0, 2.5)
    single = (  # the effects of single columns
        np.log1p(c["payments_last_day"])
        + 2.5 * hidden
        + 2.0 * night
        + 1.5 * (abroad & online)
        + online
        + resold
        - 0.8 * np.log((c["account_age_days"] + 30) / 900)
        + 0.7 * np.log(c["amount"] / 30)
    )
    return SHARPNESS * np.asarray(single + 4.5 * trial + 5.0 * stolen + 2.0 * takeover, dtype=np.float64)


def _remove_cells(rng: np.random.Generator, c: Columns, hidden: NDArray[np.bool_]) -> None:
    """Make cells missing, in place."""
    n = len(hidden)
    c["device"][(hidden & (rng.random(n) < 0.8)) | (rng.random(n) < 0.03)] = None
    c["distance_from_home"][(hidden & (rng.random(n) < 0.8)) | (rng.random(n) < 0.04)] = np.nan
    c["account_age_days"][rng.random(n) < 0.02] = np.nan
    # an account that was opened this week may have no earlier payment
    first = (c["account_age_days"] < 7) & (rng.random(n) < 0.7)
    c["days_since_last_payment"][first | (rng.random(n) < 0.01)] = np.nan
