"""The page about an experiment: Markdown, with tables as CSV and PNG and figures as PNG beside it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from skewboost import __version__
from skewboost.files import write_whole, written_whole
from skewboost.plots.style import import_pyplot
from skewboost.progress import clock
from skewboost.works import cited, in_full, works
from skewboost_reproductions.experiment import Experiment, Results
from skewboost_reproductions.page_parts import Claims, Figure, Part, Table
from skewboost_reproductions.verdicts import MEANINGS, VERDICTS, Claim, counted

DPI, COLOURS = 110, 256
LINK = re.compile(r"(?<!!)\[(?P<text>[^]]*)\]\((?P<file>[^)#]*\.md)(?:#[^)]*)?\)")
HOW_TO_READ = """\
In a cell stands our number ± its standard error, and below it the printed one, with the difference (ours less printed).
Printed numbers come without errors, so the standard error of a difference is at least that of our number."""

INDEX = f"""\
Each page has the protocol of an experiment with every guess that the paper makes necessary, our numbers next to the
printed ones, and a verdict on each claim of the paper:

{chr(10).join(f"- *{verdict}*: {meaning};" for verdict, meaning in MEANINGS.items()).removesuffix(";")}.

The tables count verdicts. Computing time is that of one core."""
LESSONS = """\
## What they say about the choice of a method

- **A table of one split has winners by chance.** With more splits the best two methods of a data set are rarely apart
  by more than their error ([sun-table1](sun-table1.md), [cuendet-curves](cuendet-curves.md),
  [nyga-impact](nyga-impact.md)). Most claims of that kind are undecided here, not refuted.
- **Costs that were chosen on the test rows look good.** With costs that training rows choose, most of the gain is gone
  ([sun-table1](sun-table1.md), [nyga-costs](nyga-costs.md)), and what decisions cost is about one and a half times as
  much ([masnadi-uci](masnadi-uci.md)).
- **Calibrate, and move the threshold.** That is as good as any variant, and better than all whose costs do not mean
  what they say ([nikolaou](nikolaou.md)).
- **Costs in every round** act as their power: the boundary moves on with each round
  ([masnadi-synthetic](masnadi-synthetic.md)), and a coarse grid of costs makes these variants look bad
  ([masnadi-uci](masnadi-uci.md)). **Costs of CS-AdaBoost** reverse once the training rows are learned
  ([masnadi-faces](masnadi-faces.md)). AdaCost depends on its start, and may do worse than any constant decision.
- **A mean recall of 95 % is no promise**: half of the test parts miss it. Certificates keep theirs
  ([nyga-goals](nyga-goals.md)).
- **Costs hardly improve F1**, and where the rare class is very rare and overlaps, they lower it
  ([nyga-costs](nyga-costs.md)). If votes do not know the costs that weights have, errors jump from round to round; with
  a search that knows them they hardly do, but they are not lower ([cuendet-complete](cuendet-complete.md)).
- **Thresholds and trees matter more than the variant.** With every cut instead of ten, errors on hypothyroid fall by a
  third ([cuendet-curves](cuendet-curves.md)), and thousands of rounds do not make up for coarse cuts
  ([cuendet-rounds](cuendet-rounds.md)); the size of the trees makes or breaks AdaCost, and decides whether costs have
  an effect at all ([nyga-costs](nyga-costs.md)).

[Choosing](../choosing.md) has recommendations."""


def written_page(
    experiment: Experiment, parts: list[Part], results: Results, folder: Path, label: str, quick: bool
) -> tuple[Path, list[Path]]:
    """Write the page and its other files, and return their paths."""
    others: list[Path] = []
    texts = [_head(experiment, results, quick), "## Protocol", experiment.protocol.strip()]
    claims = [part for part in parts if isinstance(part, Claims)]
    if claims:
        texts += ["## Answers" if experiment.asks else "## What held", *(part.markdown() for part in claims)]
    if experiment.discussion and not quick:
        texts.append(experiment.discussion.strip())
    texts += ["## Results", HOW_TO_READ] if any(isinstance(part, Table) for part in parts) else ["## Results"]
    for part in parts:
        if isinstance(part, str):
            texts.append(part.strip())
        elif isinstance(part, Table):
            files = [write_whole(folder / f"{label}-{part.name}.csv", part.csv())]
            links = f"[CSV]({files[0].name})"
            if part.drawn:
                files.append(folder / f"{label}-{part.name}.png")
                _save(part.draw(), files[1])
                links += f", [drawn]({files[1].name})"
            texts += [f"### {part.title}", part.markdown(), links]
            others += files
        elif isinstance(part, Figure):
            file = folder / f"{label}-{part.name}.png"
            _save(part.draw(), file)
            texts += [f"![{part.name}]({file.name})", f"*{part.caption}*"]
            others.append(file)
    page = folder / f"{label}.md"
    return write_whole(page, _with_links_that_lead_somewhere("\n\n".join(texts) + "\n", folder)), others


def _with_links_that_lead_somewhere(text: str, folder: Path) -> str:
    """Return a page without links to pages of the documentation if it is written elsewhere."""

    def link(match: re.Match[str]) -> str:
        return match[0] if (folder / match["file"]).is_file() else match["text"]

    return LINK.sub(link, text)


def written_index(
    rows: Sequence[tuple[Experiment, Path, Sequence[Claim], float]], folder: Path, *, quick: bool
) -> Path:
    """Write a page with a line per experiment: its page, how many claims held, and the time that it took."""
    path = folder / ("index-quick.md" if quick else "index.md")
    texts = ["# Published experiments", INDEX, _counts("paper", [row for row in rows if not row[0].asks])]
    asking = [row for row in rows if row[0].asks]
    if asking:
        texts += ["## Questions that papers leave open", _counts("question", asking)]
    if not quick:
        texts.append(_with_links_that_lead_somewhere(LESSONS, folder))
    return write_whole(path, "\n\n".join(texts) + "\n")


def _counts(what: str, rows: Sequence[tuple[Experiment, Path, Sequence[Claim], float]]) -> str:
    """Return a table with the numbers of verdicts, and of all of them together."""
    lines = [_line("experiment", what, *VERDICTS, "computing time"), _line(*["---"] * (3 + len(VERDICTS)))]
    total = dict.fromkeys(VERDICTS, 0)
    for experiment, page, claims, seconds in rows:
        link = f"[{experiment.name}]({page.name}): {experiment.title}"
        source = f"{cited(experiment.source)}, {experiment.shows}"
        about = f"{experiment.asks} ({source})" if experiment.asks else source
        own = counted(claims)
        total = {verdict: n + own[verdict] for verdict, n in total.items()}
        lines.append(_line(link, about, *map(str, own.values()), clock(seconds)))
    lines.append(_line("all", "", *map(str, total.values()), clock(sum(seconds for *_, seconds in rows))))
    return "\n".join(lines)


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |".replace("|  |", "| |")


def _head(experiment: Experiment, results: Results, quick: bool) -> str:
    option = " --quick" if quick else ""
    shows = experiment.shows if experiment.asks else experiment.shows[0].upper() + experiment.shows[1:]
    scale = " It has fewer repetitions than the full run, so its errors are larger." if quick else ""
    return (
        f"# {experiment.title}\n\n{'A question of ' if experiment.asks else ''}{shows} of "
        f"[{cited(experiment.source)}](../references.md#{experiment.source}): "
        f"{in_full(works()[experiment.source])}.\n\n"
        f"Made by `skewboost reproduce {experiment.name}{option}`, version {__version__}, in "
        f"{clock(results.seconds)} of computing on one core.{scale}"
    )


def _save(figure: Any, path: Path) -> None:
    """Write a figure with few colours, which takes a third of the space."""
    from PIL import Image  # comes with Matplotlib

    drawn = BytesIO()
    figure.savefig(drawn, format="png", dpi=DPI)
    import_pyplot().close(figure)
    with Image.open(drawn) as image, written_whole(path) as file:
        few = image.convert("RGB").quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        few.save(file, "PNG", optimize=True)
