"""Data sets of the UCI repository that the papers use."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from skewboost.datasets._checks import import_pandas
from skewboost.datasets.data_files import REPLACE, TARGET, check_digest, digest_of, read_table, reading
from skewboost.datasets.downloads import downloaded, in_folders
from skewboost.parameters import check_arguments, one_of

Contents = tuple[list[list[str | None]], list[int]]  # the cells and the labels

UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/"

NUCLEUS = (
    "radius", "texture", "perimeter", "area", "smoothness", "compactness", "concavity", "concave_points", "symmetry",
    "fractal_dimension",
)  # fmt: skip
NUCLEI = tuple(f"{name}_{kind}" for kind in ("mean", "se", "worst") for name in NUCLEUS)
SQUARES = tuple(
    f"{row}_{column}_square" for row in ("top", "middle", "bottom") for column in ("left", "middle", "right")
)
THYROID_YES_NO = (
    "on_thyroxine", "query_on_thyroxine", "on_antithyroid_medication", "thyroid_surgery", "query_hypothyroid",
    "query_hyperthyroid", "pregnant", "sick", "tumor", "lithium", "goitre",
)  # fmt: skip
THYROID_TESTS = ("tsh", "t3", "tt4", "t4u", "fti", "tbg")
THYROID = ("age", "sex", *THYROID_YES_NO, *(c for test in THYROID_TESTS for c in (f"{test}_measured", test)))
THYROID_NOMINAL = ("sex", *THYROID_YES_NO, *(f"{test}_measured" for test in THYROID_TESTS))
CANCER = ("age", "menopause", "tumor_size", "inv_nodes", "node_caps", "deg_malig", "breast", "breast_quad", "irradiat")
HEPATITIS_NOMINAL = (
    "sex", "steroid", "antivirals", "fatigue", "malaise", "anorexia", "liver_big", "liver_firm", "spleen_palpable",
    "spiders", "ascites", "varices",
)  # fmt: skip
HEART = (
    "age", "sex", "cp", "trestbps", "chol", "fbs", "restecg", "thalach", "exang", "oldpeak", "slope", "ca", "thal",
)  # fmt: skip
CHESS = (
    "bkblk", "bknwy", "bkon8", "bkona", "bkspr", "bkxbq", "bkxcr", "bkxwp", "blxwp", "bxqsq", "cntxt", "dsopp",
    "dwipd", "hdchk", "katri", "mulch", "qxmsq", "r2ar8", "reskd", "reskr", "rimmx", "rkxwp", "rxmsq", "simpl",
    "skach", "skewr", "skrxp", "spcop", "stlmt", "thrsk", "wkcti", "wkna8", "wknck", "wkovl", "wkpos", "wtoeg",
)  # fmt: skip
ECHO = (
    "age_at_heart_attack", "pericardial_effusion", "fractional_shortening", "epss", "lvdd", "wall_motion_score",
    "wall_motion_index",
)  # fmt: skip


@dataclass(frozen=True)
class Source:
    """Where a data set is, and how its rows are read: text, separated by commas, without a header."""

    url: str
    columns: Sequence[str]  # the features, in the order of the file
    label: int  # the field of the label
    positive: tuple[str, ...]  # labels of the positive class
    digest: str  # checksum of the contents
    nominal: Sequence[str] = ()
    first: int = 0  # the field of the first feature
    unlabelled: tuple[str, ...] = ()  # rows with these labels are left out


SOURCES = {
    "pima": Source(
        "https://raw.githubusercontent.com/jbrownlee/Datasets/master/pima-indians-diabetes.data.csv",
        ("pregnancies", "glucose", "blood_pressure", "skin_thickness", "insulin", "bmi", "diabetes_pedigree", "age"),
        8,
        ("1",),
        "50c769d501f5e20dce7c411260c1bf4f",
    ),
    "bupa_liver": Source(
        UCI + "liver-disorders/bupa.data",
        ("mcv", "alkphos", "sgpt", "sgot", "gammagt", "drinks"),
        6,
        ("1",),
        "5f5069a8589781b5621601c0bc9fd4ba",
    ),
    "wdbc": Source(
        UCI + "breast-cancer-wisconsin/wdbc.data", NUCLEI, 1, ("M",), "0e274bdb826ca914d0670c3f51b1ce7a", first=2
    ),
    "wpbc": Source(
        UCI + "breast-cancer-wisconsin/wpbc.data",
        ("time", *NUCLEI, "tumor_size", "lymph_node_status"),
        1,
        ("R",),
        "a48cdc596e8ba1b9695eb1d9a15a69f9",
        first=2,
    ),
    "wisconsin_original": Source(
        UCI + "breast-cancer-wisconsin/breast-cancer-wisconsin.data",
        (
            "clump_thickness",
            "cell_size_uniformity",
            "cell_shape_uniformity",
            "marginal_adhesion",
            "single_epithelial_cell_size",
            "bare_nuclei",
            "bland_chromatin",
            "normal_nucleoli",
            "mitoses",
        ),
        10,
        ("4",),
        "732af23abd040611b8bd680fee27ee8c",
        first=1,
    ),
    "sonar": Source(
        UCI + "undocumented/connectionist-bench/sonar/sonar.all-data",
        tuple(f"band_{k:02d}" for k in range(1, 61)),
        60,
        ("M",),
        "f84f283fb020ce30dd2872f51d5272a4",
    ),
    "echocardiogram": Source(
        UCI + "echocardiogram/echocardiogram.data",
        ECHO,
        1,
        ("1",),
        "a9ca48a8e3274f0815371c36bb432014",
        first=2,
        unlabelled=("?", ""),
    ),
    "echocardiogram_1y": Source(
        UCI + "echocardiogram/echocardiogram.data",
        ECHO,
        12,
        ("1",),
        "a19457075d99a10f2355a9a73a6b41c2",
        first=2,
        unlabelled=("?", ""),
    ),
    "cleveland_heart": Source(
        UCI + "heart-disease/processed.cleveland.data",
        HEART,
        13,
        ("1", "2", "3", "4"),
        "bc9a6ce87757477589dfa91b1909f9fd",
    ),
    "tic_tac_toe": Source(
        UCI + "tic-tac-toe/tic-tac-toe.data",
        SQUARES,
        9,
        ("negative",),
        "6f76fc4a069c039278b1ccf3fc0f19b6",
        nominal=SQUARES,
    ),
    "haberman": Source(
        UCI + "haberman/haberman.data",
        ("age", "operation_year", "positive_nodes"),
        3,
        ("2",),
        "475fbbc18db3d58753b34ab002dbe0eb",
    ),
    "breast_cancer_ljubljana": Source(
        UCI + "breast-cancer/breast-cancer.data",
        CANCER,
        0,
        ("recurrence-events",),
        "6f492cfed110a415a72b150f8c71d40f",
        nominal=CANCER,
        first=1,
    ),
    "hypothyroid": Source(
        UCI + "thyroid-disease/hypothyroid.data",
        THYROID,
        0,
        ("hypothyroid",),
        "4c6d48822006bf9fb4f44d15e67a29d8",
        nominal=THYROID_NOMINAL,
        first=1,
    ),
    "sick_euthyroid": Source(
        UCI + "thyroid-disease/sick-euthyroid.data",
        THYROID,
        0,
        ("sick-euthyroid",),
        "b9f5d6cb8de567aeeeff068fc9edc27a",
        nominal=THYROID_NOMINAL,
        first=1,
    ),
    "kr_vs_kp": Source(
        UCI + "chess/king-rook-vs-king-pawn/kr-vs-kp.data",
        CHESS,
        36,
        ("won",),
        "f3eaef3366d80f2b69eb91b2849f75f5",
        nominal=CHESS,
    ),
    "hepatitis": Source(
        UCI + "hepatitis/hepatitis.data",
        ("age", *HEPATITIS_NOMINAL, "bilirubin", "alk_phosphate", "sgot", "albumin", "protime", "histology"),
        0,
        ("1",),
        "cc72118215ef026cc2de8dc04d7ac780",
        nominal=(*HEPATITIS_NOMINAL, "histology"),
        first=1,
    ),
}


def fetch_uci(name: str) -> tuple[Any, Any]:
    """Load a data set of the UCI repository, downloading it unless it is on this machine.

    If the environment variable ``SKEWBOOST_DATA`` names a folder with a file ``name.csv.gz`` (or .csv, .parquet), that
    file is read: its last column ``target`` is 1 for the positive class and 0 otherwise. Else the file of the
    repository is downloaded once, to the folder ``SKEWBOOST_CACHE`` or the user's cache folder. Either way the contents
    are compared with a checksum.

    Parameters
    ----------
    name : str
        A name from the table below.

    Returns
    -------
    X : pandas.DataFrame
        Numbers, and categories of text; missing cells are NaN.
    y : pandas.Series
        1 for the positive class, 0 otherwise.

    Notes
    -----
    ========================= ==== ======== ============================================
    name                      rows positive positive class
    ========================= ==== ======== ============================================
    breast_cancer_ljubljana    286       85 recurrence
    bupa_liver                 345      145 selector 1
    cleveland_heart            303      139 heart disease
    echocardiogram             131       43 still-alive code 1
    echocardiogram_1y           74       24 alive-at-1 code 1
    haberman                   306       81 died within five years
    hepatitis                  155       32 died
    hypothyroid               3163      151 hypothyroid
    kr_vs_kp                  3196     1669 white can win
    pima                       768      268 diabetes
    sick_euthyroid            3163      293 sick-euthyroid
    sonar                      208      111 mine
    tic_tac_toe                958      332 x does not win
    wdbc                       569      212 malignant
    wisconsin_original         699      241 malignant
    wpbc                       198       47 recurrence
    ========================= ==== ======== ============================================

    The codes of echocardiogram mean the opposite of what the notes of the repository say: code 1 are the patients who
    died early. In wpbc the column ``time`` is close to the outcome.

    Examples
    --------
    >>> from skewboost_reproductions.datasets import fetch_uci
    >>> X, y = fetch_uci("haberman")  # doctest: +SKIP
    >>> X.shape, int(y.sum())  # doctest: +SKIP
    ((306, 3), 81)
    """
    check_arguments(name=(name, one_of(*sorted(SOURCES))))
    source = SOURCES[name]
    pd = import_pandas()
    path = in_folders(name)
    if path is None:
        rows, labels = downloaded(name, source.url, lambda data: _checked(_of_repository(data, source), source))
    else:
        with reading(name, path, REPLACE):
            rows, labels = _checked(of_folder(path, source.columns), source)
    X = pd.DataFrame(rows, columns=list(source.columns), dtype=object)
    for column in source.columns:
        if column in source.nominal:
            X[column] = X[column].astype("category")
        else:
            X[column] = X[column].astype(np.float64)
    return X, pd.Series(np.asarray(labels, dtype=np.int64), name=TARGET)


def _checked(contents: Contents, source: Source) -> Contents:
    """Return cells and labels that have the checksum of the data set."""
    check_digest(digest_of(_as_bytes(*contents, source)), source.digest)
    return contents


def _of_repository(data: bytes, source: Source) -> Contents:
    """Read the cells and labels of a file of the repository."""
    rows: list[list[str | None]] = []
    labels = []
    last = source.first + len(source.columns)
    fields = [k for k in range(source.first, last + 1) if k != source.label][: len(source.columns)]
    for line in csv.reader(io.StringIO(data.decode("latin-1"), newline=""), skipinitialspace=True):
        if len(line) <= max(source.label, fields[-1]):
            continue  # an empty line
        label = line[source.label].strip()
        if label not in source.unlabelled:
            labels.append(int(label in source.positive))
            rows.append([None if (cell := line[k].strip()) in ("?", "") else cell for k in fields])
    return rows, labels


def of_folder(path: Path, columns: Sequence[str]) -> Contents:
    """Read the cells and labels of a file in the user's folder."""
    table, labels = read_table(path, dtype=object, keep_default_na=False, na_values=[""])
    missing = [name for name in columns if name not in table.columns]
    if missing:
        raise ValueError(f"it has no column {missing[0]!r}")
    table = table[list(columns)].astype(object)
    return table.where(table.notna(), None).to_numpy().tolist(), labels.tolist()


def _as_bytes(rows: list[list[str | None]], labels: list[int], source: Source) -> list[bytes]:
    """Return the rows in one notation, whatever the format of numbers in the file."""
    is_text = [name in source.nominal for name in source.columns]

    def notation(cell: str | None, text: bool) -> str:
        if cell is None:
            return ""
        return str(cell) if text else repr(float(cell))

    return [",".join([*map(notation, row, is_text), str(label)]).encode() for row, label in zip(rows, labels)]
