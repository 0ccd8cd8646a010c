"""Columns that `predict --keep` copies are those of the input, to the last character."""

from __future__ import annotations

import csv
import datetime
import decimal
import gzip
import io
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from skewboost.cli import predict_command
from skewboost.cli.data import DataError, open_data
from skewboost.cli.data.records import records

FEATURES = ["size", "colour", "age", "code"]
AWKWARD = {
    "plz": ["01067", "10115", "00001", "99999"],
    "mixed": ["00123", "A-7", "1.0", "1e5"],
    "long": ["12345678901234567890", "00000000000000000001", "18446744073709551615", "7"],
    "when": ["2024-01-05T00:00:00", "2024-01-05 12:30:00.000", "2024-01-06", "05.01.2024"],
    "all dates": ["2024-01-05T00:00:00", "2024-01-05T12:30:00", "2024-01-06T00:00:00", "2024-01-05T00:00:00"],
    "blanks": [" before", "after ", "  ", "\ttab\t"],
    "quotes": ['5" pipe', 'say "hi", she said', "two\nlines", '""'],
    "words": ["NA", "?", "", "null"],
    "truth": ["TRUE", "true", "False", "FALSE"],
    "number": ["1.50", "+2", ".5", "-0"],
    "other": ["ü", "€ 5", "日本", "\u2028"],
}


def awkward(small, n=30):
    """Text columns that are easily damaged, beside those of the model."""
    frame = small.new[: len(small.new) if n is None else n].drop(columns=["id", "times", "kind"]).astype(object)
    cells = {name: [values[k % len(values)] for k in range(len(frame))] for name, values in AWKWARD.items()}
    own = {name: ["" if v != v or v is None else str(v) for v in frame[name]] for name in frame}
    return pd.DataFrame({**cells, **own})


def as_csv(frame, delimiter=",", **options):
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n", **options)
    writer.writerows([frame.columns, *frame.to_numpy().tolist()])
    return text.getvalue()


def cells_of(text, delimiter=","):
    first, *rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    return pd.DataFrame(rows, columns=first)


def same(read, frame):
    for name in frame:
        assert read[name].tolist() == frame[name].tolist(), name


@pytest.fixture
def chunks(monkeypatch):
    monkeypatch.setattr(predict_command, "CHUNK", 7)


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("source", "ending"),
    [
        *(("comma", ending) for ending in (".csv", ".csv.gz", ".tsv", ".parquet", ".feather")),
        *((source, ".csv") for source in ("tab", "semicolon, all quoted", "gzip", "pipe")),
    ],
)
def test_cells_of_text_come_out_as_they_went_in(small, run, tmp_path, chunks, source, ending):
    frame = awkward(small)
    delimiter = {"tab": "\t", "semicolon, all quoted": ";"}.get(source, ",")
    text = as_csv(frame, delimiter, quoting=csv.QUOTE_ALL if "quoted" in source else csv.QUOTE_MINIMAL)
    path, out = tmp_path / "in.csv", tmp_path / f"out{ending}"
    path.write_bytes(gzip.compress(text.encode()) if source == "gzip" else text.encode())
    given = ("-", {"input": text}) if source == "pipe" else (path, {})
    result = run("predict", small.model, given[0], "--keep", "all", "-o", out, **given[1])
    assert result.exit_code == 0, result.output
    assert "ignored" not in result.stderr
    if ending in (".parquet", ".feather"):
        read = (pq if ending == ".parquet" else feather).read_table(out).to_pandas()
    else:
        packed = out.read_bytes()
        read = cells_of(
            (gzip.decompress(packed) if ending == ".csv.gz" else packed).decode(), "\t" if ending == ".tsv" else ","
        )
    same(read, frame)
    plain = run("predict", small.model, given[0], **given[1]).stdout  # the answers are those of the same rows
    assert read["prediction"].tolist() == cells_of(plain)["prediction"].tolist()


def test_json_has_the_cells_as_text(small, run, tmp_path):
    frame = awkward(small)
    (tmp_path / "in.csv").write_text(as_csv(frame))
    rows = json.loads(run("predict", small.model, tmp_path / "in.csv", "--keep", "all", "--json").stdout)
    same(pd.DataFrame(rows), frame)


def test_lines_without_quotes_are_copied_byte_for_byte(small, run, tmp_path):
    frame = awkward(small).drop(columns=["quotes", "words"])
    lines = as_csv(frame).splitlines()
    (tmp_path / "in.csv").write_text("\r\n".join(lines))
    answers = run("predict", small.model, tmp_path / "in.csv", "--keep", "all").stdout.split("\n")
    for line, answer in zip(lines[1:], answers[1:]):
        assert answer.startswith(f"{line},")


def test_a_kept_column_that_a_pipe_changes_is_copied_too(small, run, tmp_path):
    """The first rows of a pipe settle the types of columns, but what is only copied needs none."""
    rng = np.random.default_rng(0)
    n = 7_000  # more than are read to settle them
    frame = pd.DataFrame({"id": [f"{k:040}" for k in range(n)], "size": rng.normal(size=n).round(3)})
    frame = frame.assign(colour="red", age=30, code=1).astype(str)
    frame.loc[n - 1, "id"] = "A1"
    result = run("predict", small.model, "-", "--keep", "id", input=as_csv(frame))
    assert result.exit_code == 0, result.output
    assert cells_of(result.stdout)["id"].tolist() == frame["id"].tolist()


@pytest.mark.parametrize("keep", [[], ["--keep", "all"]])
def test_a_short_row_late_in_a_pipe_is_an_error(small, run, keep):
    rows = ["size,colour,age,code", *["0.5,red,30,1"] * 22_000, "0.5,red,30"]
    result = run("predict", small.model, "-", *keep, input="\n".join(rows))
    assert result.exit_code == 2
    assert "line 22002: 3 cells, but there are 4 columns" in result.stderr


def test_cells_of_arff(small, run, tmp_path):
    kinds = {"size": "numeric", "colour": "{red,green,blue}", "age": "numeric", "code": "numeric"}
    head = ["@relation r", "@attribute id numeric", "@attribute 'a name' string"]
    head += [f"@attribute {name} {kind}" for name, kind in kinds.items()]
    body = ["01067, 'it is \\'so\\' ' ,1.50,red,30,1", "1e3,?,?,green,030,2", "?,x,2,blue,1,1"]
    (tmp_path / "in.arff").write_text("\n".join([*head, "@data", *body]))
    result = run("predict", small.model, tmp_path / "in.arff", "--keep", "all")
    assert result.exit_code == 0, result.output
    read = cells_of(result.stdout)
    assert read["id"].tolist() == ["01067", "1e3", "?"]
    assert read["a name"].tolist() == ["it is 'so' ", "?", "x"]
    assert read["size"].tolist() == ["1.50", "?", "2"]
    assert read["age"].tolist() == ["30", "030", "1"]


def test_cells_of_libsvm(run, tmp_path):
    rows = "".join(f"{k % 2} 1:{k} 2:{k % 5}\n" for k in range(40))
    (tmp_path / "train.svm").write_text(rows)
    told = ["-t", "target", "-m", "CSRA", "-r", 2, "--test", 0]
    assert run("fit", tmp_path / "train.svm", *told, "-o", tmp_path / "m.json").exit_code == 0
    (tmp_path / "in.svm").write_text("+1 1:01.50 2:1e1 # a comment\n-1 qid:3 2:7\n")
    result = run("predict", tmp_path / "m.json", tmp_path / "in.svm", "--keep", "all")
    read = cells_of(result.stdout)
    assert read[["target", "f1", "f2"]].to_numpy().tolist() == [["+1", "01.50", "1e1"], ["-1", "0", "7"]]


EXACT = {
    "i": pa.array([2**63 - 1, None, -5]),
    "u": pa.array([2**64 - 1, 0, None], pa.uint64()),
    "small": pa.array([1, None, 3], pa.int8()),
    "d": pa.array([decimal.Decimal("12.30"), None, decimal.Decimal("-0.05")]),
    "f": pa.array([0.1, None, 1e300], pa.float32()),
    "ns": pa.array([1, None, 1_700_000_000_000_000_123], pa.timestamp("ns")),
    "zone": pa.array([0, None, 1_500], pa.timestamp("ms", "Europe/Berlin")),
    "day": pa.array([datetime.date(2024, 1, 5), None, datetime.date(20, 1, 1)]),
    "truth": pa.array([True, None, False]),
    "text": pa.array(["01067", None, ""]),
    "kind": pa.array(["b", None, "a"]).dictionary_encode(),
    "list": pa.array([[1, 2], None, []]),
    "empty": pa.nulls(3),
}
AS_TEXT = {
    "i": ["9223372036854775807", "", "-5"],
    "u": ["18446744073709551615", "0", ""],
    "small": ["1", "", "3"],
    "d": ["12.30", "", "-0.05"],
    "f": ["0.1", "", "inf"],
    "ns": ["1970-01-01 00:00:00.000000001", "", "2023-11-14 22:13:20.000000123"],
    "zone": ["1970-01-01 01:00:00+01:00", "", "1970-01-01 01:00:01.500000+01:00"],
    "day": ["2024-01-05", "", "0020-01-01"],
    "truth": ["True", "", "False"],
    "text": ["01067", "", ""],
    "kind": ["b", "", "a"],
    "empty": ["", "", ""],
}


@pytest.fixture
def typed(small, tmp_path):
    """Columns of many types beside those of the model, as a file."""
    own = pa.Table.from_pandas(small.new[FEATURES][:3].reset_index(drop=True), preserve_index=False)
    table = pa.table({**EXACT, **{name: own[name] for name in FEATURES}})
    pq.write_table(table, tmp_path / "in.parquet")
    return tmp_path / "in.parquet"


@pytest.mark.parametrize("ending", [".parquet", ".feather"])
def test_arrow_columns_keep_values_and_types(small, run, typed, tmp_path, monkeypatch, ending):
    monkeypatch.setattr(predict_command, "CHUNK", 2)
    out = tmp_path / f"out{ending}"
    result = run("predict", small.model, typed, "--keep", ",".join(EXACT), "-o", out)
    assert result.exit_code == 0, result.output
    read = (pq if ending == ".parquet" else feather).read_table(out)
    for name, column in EXACT.items():
        expected = column.cast(pa.string()) if name == "kind" and ending == ".feather" else column
        assert read[name].type == expected.type, name
        assert read[name].to_pylist() == expected.to_pylist(), name


def test_arrow_columns_as_text(small, run, typed):
    result = run("predict", small.model, typed, "--keep", ",".join(AS_TEXT))
    assert result.exit_code == 0, result.output
    read = cells_of(result.stdout)
    for name, cells in AS_TEXT.items():
        assert read[name].tolist() == cells, name
    rows = json.loads(run("predict", small.model, typed, "--keep", "i,text,list,d,truth", "--json").stdout)
    assert [row["i"] for row in rows] == [2**63 - 1, None, -5]
    assert [row["text"] for row in rows] == ["01067", None, ""]
    assert [row["list"] for row in rows] == [[1, 2], None, []]
    assert [row["d"] for row in rows] == ["12.30", None, "-0.05"]
    assert [row["truth"] for row in rows] == [True, None, False]


def test_types_without_text_are_refused(small, refused, typed):
    path = typed.with_name("list.parquet")
    pq.write_table(pq.read_table(typed).select([*FEATURES, "list"]), path)
    line = refused("predict", small.model, path, "--keep", "list", "-o", "out.csv")
    assert "'list' is of the type list" in line
    assert "write a .parquet or .feather file" in line


def test_columns_named_like_answers_are_refused(small, run, refused, tmp_path):
    run("fit", small.many, "-t", "kind", "-m", "AdaBoostMH", "-r", 2, "-o", tmp_path / "many.json")
    small.frame.assign(score_old=1).to_csv(tmp_path / "own.csv", index=False)
    assert "has a column 'score_old', like the output" in refused("predict", "many.json", "own.csv", "--keep", "all")


# ----------------------------------------------------------------------------------- rows of text


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_rows_are_those_that_the_csv_module_wrote_and_pandas_reads(delimiter):
    rng = np.random.default_rng(0)
    letters = np.array([delimiter, '"', "\n", " ", "a", "0", "\r", "'"])
    for k in range(60):
        rows = [["".join(rng.choice(letters, rng.integers(0, 6))) for _ in range(3)] for _ in range(rng.integers(1, 9))]
        rows = [row if any(cell.strip() for cell in row) else ["a", *row[1:]] for row in rows]
        text = io.StringIO()
        quoting = csv.QUOTE_ALL if k % 2 else csv.QUOTE_MINIMAL
        csv.writer(text, delimiter=delimiter, lineterminator="\r\n" if k % 3 else "\n", quoting=quoting).writerows(rows)
        found = list(records(io.StringIO(text.getvalue(), newline=""), delimiter))
        # csv quotes no cell for its spaces, and before Python 3.13 none for "\r"
        if quoting == csv.QUOTE_ALL:
            assert [record.cells for record in found] == rows
            assert "".join(record.text for record in found) == text.getvalue()
        read = pd.read_csv(
            io.StringIO(text.getvalue()), sep=delimiter, header=None, dtype=str, keep_default_na=False,
            skipinitialspace=True, names=range(3), index_col=False,
        ).fillna("")  # fmt: skip
        if all(len(record.cells) == 3 for record in found):
            without = [[[cell.lstrip(" ") for cell in row] for row in table] for table in (
                read.to_numpy().tolist(), [record.cells for record in found]
            )]  # fmt: skip
            assert without[0] == without[1]


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ('a, "b,c" d,e', ["a", "b,c d", "e"]),
        ('a,b"c,d', ["a", 'b"c', "d"]),
        ('"a""b",,', ['a"b', "", ""]),
        ('"a"b"c"', ['ab"c"']),
        ('"two\nlines", x', ["two\nlines", " x"]),
    ],
)
def test_cells_by_hand(text, cells):
    (record,) = records(io.StringIO(text, newline=""), ",")
    assert record.cells == cells
    assert record.is_closed


def test_spaces_that_divide_cells_are_no_cells():
    assert [r.cells for r in records(['1   "a b" 3\n', "   4 5 6\n"], " ")] == [["1", "a b", "3"], ["4", "5", "6"]]


def test_a_quote_without_end_is_found_in_linear_time():
    rows = list(records((f'{k},"x\n' for k in range(5_001)), ","))
    assert not rows[-1].is_closed


# ------------------------------------------------------------------------------ long headers, other files


@pytest.mark.parametrize("n_letters", [500, 2_000])
def test_long_headers_are_read(tmp_path, n_letters):
    """Beyond the limit of the csv module, and beyond the bytes that are read to recognise the format."""
    names = [f"{k:0{n_letters}}x" for k in range(300)]
    assert len(",".join(names)) > 131_072
    path = tmp_path / "wide.csv"
    path.write_text("\n".join([",".join(names), *[",".join(["1.5"] * 300)] * 2]))
    source = open_data(path)
    assert source.columns == names
    assert source.read().to_numpy().tolist() == [[1.5] * 300] * 2


def test_cells_longer_than_the_limit_of_the_csv_module(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text(f'a,b\n1,"{"x" * 200_000}"\n2,y\n')
    assert open_data(path).read()["b"].str.len().tolist() == [200_000, 1]


def test_a_model_in_the_place_of_a_table(small, refused, tmp_path):
    assert "this is a model file, not a table. Name a table instead." in refused("predict", small.model, small.model)
    (tmp_path / "rows.json").write_text('[{"a": 1}]')
    assert "this is JSON, not a table. Convert it to CSV or Parquet." in refused("predict", small.model, "rows.json")
    for text in ("{a},b\n1,2\n", "[a],b\n1,2\n"):  # names of columns
        (tmp_path / "t.csv").write_text(text)
        assert len(open_data(tmp_path / "t.csv").columns) == 2


def test_a_file_of_one_endless_line(tmp_path, monkeypatch):
    from skewboost.cli.data import content

    for name in ("HEAD", "LONGEST_HEAD"):
        monkeypatch.setattr(content, name, 1000)
    path = tmp_path / "t.csv"
    path.write_text("a" * 5000)
    with pytest.raises(DataError, match="its first line is longer than 1,000 characters"):
        open_data(path)
