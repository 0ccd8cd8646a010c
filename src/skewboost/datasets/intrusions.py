"""A generated table of network connections: most are normal, and there are three kinds of attack."""

from __future__ import annotations

from typing import Any

import numpy as np

from skewboost.datasets._checks import checked_count, checked_rng, import_pandas
from skewboost.typing import Array

Columns = dict[str, Array]

PROPORTIONS = {"dos": 0.04, "probe": 0.015, "break-in": 0.005}  # the rest is normal
SERVICES = {"http": 0.50, "dns": 0.20, "mail": 0.12, "ssh": 0.08, "ftp": 0.04, "other": 0.06}


def make_intrusions(n_rows: int = 20_000, random_state: int = 0) -> tuple[Any, Any]:
    """Generate network connections, 6 % of them attacks of three kinds.

    A denial of service ("dos", 4 %) comes in floods of short connections, a "probe" (1.5 %) tries many ports, and a
    "break-in" (0.5 %) guesses passwords and then takes data out. All three resemble some normal connections: crowds on
    a sale, a monitoring system, users who forgot their password. Some attackers are slow and look like normal users, so
    that no classifier finds every case. Some cells are missing at random. Others are informative: a probe meets many
    ports without a service.

    Parameters
    ----------
    n_rows : int, default=20_000
        The number of connections, at least 400.
    random_state : int, default=0
        The seed of the generator.

    Returns
    -------
    X : pandas.DataFrame of shape (n_rows, 10)
        Seven numeric columns, one of them with missing values, two categorical ones, one of them with missing
        values, and a boolean one.
    y : pandas.Series of str
        "normal" (94 %), "dos" (4 %), "probe" (1.5 %) or "break-in" (0.5 % of the rows, rounded).

    Examples
    --------
    >>> from skewboost.datasets import make_intrusions
    >>> X, y = make_intrusions(n_rows=1000)
    >>> X.shape
    (1000, 10)
    >>> y.value_counts().to_dict()
    {'normal': 940, 'dos': 40, 'probe': 15, 'break-in': 5}
    """
    pd = import_pandas()
    n = checked_count("n_rows", n_rows, 400, None, "for at least two break-ins")
    rng = checked_rng(random_state)
    # The classes are counted, not drawn, so that their proportions are the same for every seed and size.
    counts = {kind: round(proportion * n) for kind, proportion in PROPORTIONS.items()}
    labels = np.repeat(["normal", *counts], [n - sum(counts.values()), *counts.values()])
    rng.shuffle(labels)
    columns = _connections(rng, n)
    _add_look_alikes(rng, columns, labels == "normal")
    # a quarter of the attackers are slow, and leave few traces
    intensity = np.where(rng.random(n) < 0.25, 0.3, 1.0) * rng.gamma(6.0, 1 / 6, n)
    _dos(rng, columns, labels == "dos", intensity)
    _probe(rng, columns, labels == "probe", intensity)
    _break_in(rng, columns, labels == "break-in", intensity)
    X = pd.DataFrame(_finished(rng, columns, labels == "probe"))
    return X.astype({"protocol": "category", "service": "category"}), pd.Series(labels, name="kind", dtype=object)


def _connections(rng: np.random.Generator, n: int) -> Columns:
    """Generate normal connections; durations and bytes are logarithms."""
    service = rng.choice(list(SERVICES), size=n, p=list(SERVICES.values())).astype(object)
    talkative = np.isin(service, ("ssh", "ftp"))
    duration = rng.normal(np.where(talkative, 3.5, 0.5), 1.3, n)
    return {
        "duration": duration,
        "bytes_sent": rng.normal(6.0 + 0.4 * duration, 1.2),
        "bytes_received": rng.normal(7.5 + 0.4 * duration + (service == "http"), 1.4),
        "connections_last_minute": rng.gamma(1.2, 4.0, n),
        "ports_last_minute": rng.gamma(1.5, 0.8, n),
        "error_share": rng.beta(0.6, 12.0, n),
        "failed_logins": rng.gamma(0.25, 0.5, n) * np.isin(service, ("ssh", "ftp", "mail")),
        "service": service,
        "internal": rng.random(n) < 0.45,
    }


def _add_look_alikes(rng: np.random.Generator, c: Columns, normal: Array) -> None:
    """Make some normal connections look like attacks, in place."""
    n = len(normal)
    role = np.where(normal, rng.random(n), 1.0)
    crowd, monitor, forgetful = role < 0.04, (role > 0.04) & (role < 0.055), (role > 0.055) & (role < 0.075)
    c["connections_last_minute"] += crowd * rng.gamma(3.0, 25.0, n)
    c["error_share"] = np.maximum(c["error_share"], crowd * rng.beta(1.5, 6.0, n))
    c["service"][crowd] = "http"
    c["ports_last_minute"] += monitor * rng.gamma(3.0, 4.0, n)
    c["internal"] |= monitor & (rng.random(n) < 0.9)
    c["failed_logins"] += forgetful * rng.gamma(2.0, 1.5, n)
    c["service"][forgetful] = rng.choice(["ssh", "mail", "mail", "ftp"], size=int(forgetful.sum()))


def _dos(rng: np.random.Generator, c: Columns, rows: Array, intensity: Array) -> None:
    """Make floods of many short connections with few bytes, in place."""
    n = len(rows)
    c["connections_last_minute"] += rows * intensity * rng.gamma(4.0, 28.0, n)
    c["duration"] -= rows * intensity * 1.6
    c["bytes_received"] -= rows * intensity * 2.5
    c["error_share"] = np.where(rows, np.maximum(c["error_share"], intensity * rng.beta(3.0, 5.0, n)), c["error_share"])
    c["service"][rows & (rng.random(n) < 0.6)] = "http"
    c["internal"] &= ~(rows & (rng.random(n) < 0.8))


def _probe(rng: np.random.Generator, c: Columns, rows: Array, intensity: Array) -> None:
    """Make connections that try one port after the other, most of which refuse, in place."""
    n = len(rows)
    c["ports_last_minute"] += rows * intensity * rng.gamma(3.0, 6.0, n)
    c["error_share"] = np.where(rows, np.maximum(c["error_share"], intensity * rng.beta(4.0, 4.0, n)), c["error_share"])
    c["bytes_sent"] -= rows * intensity * 2.5
    c["bytes_received"] -= rows * intensity * 2.0
    c["internal"] &= ~(rows & (rng.random(n) < 0.5))


def _break_in(rng: np.random.Generator, c: Columns, rows: Array, intensity: Array) -> None:
    """Make connections from outside that guess passwords and then take data out, in place."""
    n = len(rows)
    c["service"][rows] = rng.choice(["ssh", "ssh", "ftp", "mail"], size=int(rows.sum()))
    c["failed_logins"] += rows * intensity * rng.gamma(2.5, 1.6, n)
    c["duration"] = np.where(rows, rng.normal(3.0 + intensity, 1.0), c["duration"])
    c["bytes_sent"] += rows * intensity * 2.5  # more than usual goes out
    c["internal"] &= ~(rows & (rng.random(n) < 0.7))


def _finished(rng: np.random.Generator, c: Columns, probe: Array) -> Columns:
    """Return the columns as they are measured: rounded, with a protocol, and with missing cells."""
    n = len(probe)
    udp = (c["service"] == "dns") | ((c["service"] == "other") & (rng.random(n) < 0.4))
    icmp = (rng.random(n) < 0.02) | (probe & (rng.random(n) < 0.25))
    c["service"][icmp | (probe & (rng.random(n) < 0.3)) | (rng.random(n) < 0.03)] = None
    c["error_share"][rng.random(n) < 0.03] = np.nan
    return {
        "duration": np.exp(np.clip(c["duration"], -7, 11)).round(3),
        "bytes_sent": np.floor(np.exp(np.clip(c["bytes_sent"], 0, 20))),
        "bytes_received": np.floor(np.exp(np.clip(c["bytes_received"], 0, 20))),
        "connections_last_minute": 1 + rng.poisson(c["connections_last_minute"]),
        "ports_last_minute": 1 + rng.poisson(c["ports_last_minute"]),
        "error_share": np.clip(c["error_share"], 0, 1).round(2),
        "failed_logins": rng.poisson(c["failed_logins"]),
        "protocol": np.where(icmp, "icmp", np.where(udp, "udp", "tcp")).astype(object),
        "service": c["service"],
        "internal": c["internal"],
    }
