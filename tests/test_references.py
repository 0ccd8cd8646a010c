"""All works that are cited are in one file, and written out as it has them."""

from __future__ import annotations

import references

from skewboost.works import works

WORKS = works()
SOURCES = references.modules()


def test_every_key_that_is_cited_exists_and_every_work_is_cited():
    cited = references.cited()
    unknown = {name: keys - set(WORKS) for name, keys in cited.items() if keys - set(WORKS)}
    assert unknown == {}
    assert set(WORKS) - set().union(*cited.values()) == set()


def test_works_have_what_it_takes():
    for key, work in WORKS.items():
        assert {"authors", "title", "venue", "year"} <= set(work) <= {"authors", "title", "venue", "year", "pages"}, key
        assert str(work["year"]) in key


def test_docstrings_have_the_works_as_the_file_has_them():
    texts = {path: path.read_text(encoding="utf-8") for path in SOURCES}
    stale = [path.name for path, text in texts.items() if references.filled_in(text, WORKS) != text]
    assert stale == [], "run: python tools/references.py"


def test_what_a_module_cites_is_listed_in_one_of_its_docstrings():
    missing = []
    for path in SOURCES:
        text = path.read_text(encoding="utf-8")
        listed = {match[2] for match in references.ENTRY.finditer(text)}
        missing += [(path.name, key) for key in set(references.CITATION.findall(text)) - listed]
    assert missing == []


def test_the_page_is_current():
    assert references.PAGE.read_text(encoding="utf-8") == references.as_page(WORKS), "run: python tools/references.py"


def test_an_entry_keeps_what_is_to_be_read_there():
    works = {"doe1999": {"authors": "J. Doe", "title": "On it", "venue": "Journal 1", "year": 1999, "pages": "2-3"}}
    full = '    .. [doe1999] J. Doe, "On it", Journal 1 (1999) 2-3, §4.'
    for given in ("    .. [doe1999] §4.", '    .. [doe1999] J. Roe, "Of\n       it", Elsewhere (2000), §4.', full):
        assert references.filled_in(given, works) == full
