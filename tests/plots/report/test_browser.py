"""The explorer in a browser: its numbers are Python's, and nothing is asked of any network."""

from __future__ import annotations

import re
import shutil

import numpy as np
import pandas as pd
import pytest

from skewboost import RealBoostClassifier
from skewboost.plots import Report

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@pytest.fixture(scope="module")
def report(as_it_says):
    rng = np.random.default_rng(0)
    y = rng.random(9000) < 0.04
    p = 1 / (1 + np.exp(-rng.normal(np.where(y, 0.0, -4.0), 1.5)))
    model = as_it_says(("harmless", "fraud"), threshold=0.25)
    return Report(model, p[:, None], np.where(y, "fraud", "harmless"), cost=20, title="Payments")


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def address(report, tmp_path_factory):
    return report.save(tmp_path_factory.mktemp("report") / "report.html").as_uri()


@pytest.fixture(scope="module")
def tab(browser):
    """A page that all tests share, its messages and errors, and the addresses that it requests."""
    page = browser.new_page()
    messages, requests = [], []
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    return page, messages, requests


@pytest.fixture
def page(tab, address):
    """The open report; a message of the browser, or a request for anything else, fails the test."""
    page, messages, requests = tab
    page.set_viewport_size({"width": 1280, "height": 900})
    page.emulate_media(media="screen")
    page.goto("about:blank")
    messages.clear()
    requests.clear()
    page.goto(address)
    yield page
    assert messages == []
    assert {url.split("#")[0] for url in requests} == {address}


def value(page, name):
    text = page.locator(f'[data-of="{name}"]').get_attribute("data-value")
    return float(text)


def everything(page):
    all_values = "es => es.map(e => [e.getAttribute('data-of'), e.getAttribute('data-value')])"
    return {name: float(text) for name, text in page.locator("[data-value]").evaluate_all(all_values)}


def expected(table, threshold, miss, alarm, prevalence, n):
    o = table.outcome(threshold, miss, alarm, prevalence)
    c = o.counts
    best = table.best_threshold(miss, alarm, prevalence)
    found = {"tp": n * c.tp, "fp": n * c.fp, "fn": n * c.fn, "tn": n * c.tn, "cost": o.cost, "total": n * o.cost}
    found |= {"recall": c.recall, "precision": c.precision, "specificity": c.specificity, "f1": c.f1}
    found |= {"flagged": c.flagged_share, "savings-none": 1 - o.cost / o.none, "savings-all": 1 - o.cost / o.all}
    return found | {"best": best, "best-cost": table.outcome(best, miss, alarm, prevalence).cost}


def move(page, name, position):
    page.locator(f'[name="{name}"]').evaluate(
        "(e, x) => { e.value = x; e.dispatchEvent(new Event('input', {bubbles: true})); }", str(position)
    )


def settings_of(page):
    return dict(pair.split("=") for pair in page.locator("#explorer").get_attribute("data-settings").split("&"))


def test_it_starts_with_the_models_own_answers(page, report):
    table, counts = report.explorer, report.evidence.counts
    found = everything(page)
    assert [found[k] for k in ("tp", "fp", "fn", "tn")] == pytest.approx([counts.tp, counts.fp, counts.fn, counts.tn])
    assert found == pytest.approx(expected(table, 0.25, 20, 1, None, 9000), rel=1e-12)


def test_wherever_the_sliders_are_the_numbers_are_those_of_python(page, report):
    rng, table, before = np.random.default_rng(1), report.explorer, None
    for k in range(8):
        move(page, "miss", rng.integers(200, 900))
        move(page, "alarm", rng.integers(200, 600))
        move(page, "prevalence", rng.integers(100, 1000))
        move(page, "threshold", rng.integers(0, table.n_bins + 1))
        n = (9000, 1000, 1_000_000)[k % 3]
        page.select_option('[name="per"]', "tested" if n == 9000 else str(n))
        s = settings_of(page)
        settings = (float(s["threshold"]), float(s["miss"]), float(s["alarm"]), float(s["prevalence"]))
        found = everything(page)
        assert found == pytest.approx(expected(table, *settings, n), rel=1e-12, abs=1e-300, nan_ok=True)
        assert found["best"] == table.best_threshold(*settings[1:])  # to the bit
        assert found != before
        before = found


def test_keys_numbers_buttons_and_the_line_move_it_too(page, report):
    table = report.explorer
    page.locator('[name="threshold"]').focus()
    page.keyboard.press("ArrowRight")
    after = table.thresholds[table.own + 1]
    assert value(page, "recall") == pytest.approx(table.counts_at(after).recall)
    page.fill('[name="miss-number"]', "7")
    assert value(page, "best") == table.best_threshold(7)
    page.fill('[name="prevalence-number"]', "0.5")
    assert value(page, "best") == table.best_threshold(7, 1, 0.005)
    page.click('[data-of="use-best"]')
    assert value(page, "cost") == value(page, "best-cost")
    assert page.locator('[data-of="use-best"]').is_disabled()
    page.click('[data-of="reset"]')
    assert value(page, "best") == table.best_threshold(20)
    recall = value(page, "recall")
    box = page.locator("#plot-scores").bounding_box()
    page.mouse.click(box["x"] + 0.9 * box["width"], box["y"] + 0.3 * box["height"])
    assert value(page, "recall") < recall
    page.fill('[name="miss-number"]', "-3")  # no cost: nothing changes
    assert value(page, "best") == table.best_threshold(20)


@pytest.mark.slow
def test_a_link_keeps_the_settings(page, browser, address, report):
    move(page, "miss", 700)
    move(page, "prevalence", 300)
    page.click('[data-of="copy"]')
    assert page.locator('[data-of="copied"]').inner_text() != ""
    link, found = page.url, everything(page)
    page.reload()
    assert everything(page) == found
    page.goto("about:blank")
    page.goto(link)
    assert everything(page) == found
    page.goto(address + "#miss=nonsense&threshold=&prevalence=7")  # what is wrong is left as it was
    assert value(page, "best") == report.explorer.best_threshold(20)


def test_a_phone_shows_it_without_scrolling_sideways(page):
    page.set_viewport_size({"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.locator("#plot-scores").bounding_box()["width"] > 280


@pytest.mark.slow
def test_a_phone_shows_all_rates_and_a_tablet_both_curves_side_by_side(page):
    page.set_viewport_size({"width": 360, "height": 740})
    assert page.evaluate("(e => e.scrollWidth - e.clientWidth)(document.querySelector('#performance .box'))") <= 0
    page.set_viewport_size({"width": 768, "height": 1024})
    first, second = (page.locator(".squares svg").nth(k).bounding_box() for k in range(2))
    assert first["y"] == second["y"]
    assert second["x"] > first["x"] + first["width"]


def test_a_threshold_that_flags_nothing_costs_as_much_as_flagging_none(page):
    page.fill('[name="threshold-number"]', "1e9")
    page.keyboard.press("Tab")
    assert "as much as flagging none" in page.locator('[data-of="in-words"]').inner_text()


@pytest.mark.slow
def test_a_name_of_many_letters_leaves_room_for_the_other_columns(browser, tmp_path, only):
    only("data")
    X, y = pd.DataFrame({"x" * 150: np.arange(60.0)}), np.arange(60) > 40
    path = Report(RealBoostClassifier(n_estimators=1).fit(X, y), X, y).save(tmp_path / "long.html")
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(path.as_uri())
    assert page.locator("#data tbody th").first.bounding_box()["width"] < 400
    page.close()


@pytest.mark.slow
def test_probabilities_of_zero_and_one_do_not_stretch_the_scale(browser, as_it_says, tmp_path, only):
    only("explore")
    p = np.r_[np.zeros(60), np.linspace(0.02, 0.9, 40), np.ones(60)]
    path = Report(as_it_says(), p[:, None], np.arange(160) > 110).save(tmp_path / "votes.html")
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(path.as_uri())
    ticks = page.locator("#plot-scores text").all_text_contents()
    assert "0.5" in ticks
    assert not any(tick.startswith("1e-") and int(tick[3:]) > 4 for tick in ticks)
    page.close()


def test_print_shows_values_instead_of_sliders(page):
    page.emulate_media(media="print")
    assert not page.locator('[name="miss"]').is_visible()
    words = page.locator('[data-of="settings"]')
    assert words.is_visible()
    assert re.search(r"A miss costs 20, a false alarm 1; 3\.\d+.% are positive; flagged from 0\.25", words.inner_text())


def test_all_inputs_have_names(page):
    for field in page.locator("input, select").all():
        assert field.evaluate("e => (e.labels && e.labels.length > 0) || Boolean(e.getAttribute('aria-label'))")
