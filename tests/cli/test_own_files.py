"""Twelve files of a user in twelve formats and states, each from file to report."""

import gzip
import re
from pathlib import Path

import numpy as np
import pytest

N = 40
KINDS = np.array(["rose", "tulip"])[np.arange(N) % 2]
RNG = np.random.RandomState(0)
X = RNG.uniform(1, 9, (N, 3)).round(2) + (np.arange(N) % 2)[:, np.newaxis]
GRADES = np.array(["low", "mid", "high"])[np.arange(N) % 3]


def lines(rows, head=None, separator=","):
    return "\n".join(separator.join(map(str, row)) for row in [*([head] if head else []), *rows])


def quoted_csv(folder):
    rows = [
        [*x, ['"Ulm, Neu"', '"the ""old"" town"'][i % 2], f'"{kind}"']
        for i, (x, kind) in enumerate(zip(X, KINDS, strict=True))
    ]
    (folder / "quoted.csv").write_text(lines(rows, ['"a"', '"b"', '"c"', '"town"', '"kind"']))
    return "quoted.csv", []


def excel_csv(folder):
    rows = [[*(str(v).replace(".", ",") for v in x), k] for x, k in zip(X, KINDS, strict=True)]
    text = "sep=;\n" + lines(rows, ["Länge", "b", "c", "kind"], ";")
    (folder / "excel.csv").write_bytes(text.encode("cp1252"))
    return "excel.csv", []


def old_excel(folder):
    pytest.importorskip("python_calamine")
    file = Path(__file__).parent / "files" / "flowers.xls"
    (folder / "flowers.xls").write_bytes(file.read_bytes())
    return "flowers.xls", ["--sheet", "flowers"]


def stata(folder):
    import pandas as pd

    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "sex": pd.Categorical(KINDS)})
    frame["answer"] = pd.Categorical(GRADES, ["low", "mid", "high"], ordered=True)
    frame.loc[:4, "a"] = np.nan
    frame.to_stata(folder / "survey.dta", write_index=False)
    return "survey.dta", ["--target", "answer", "--missing", "mean"]


def matlab(folder):
    from scipy.io import savemat

    savemat(folder / "m.mat", {"fea": X, "gnd": np.arange(N)[:, np.newaxis] % 2, "note": "mine"})
    return "m.mat", []


def parquet(folder):
    import pyarrow as pa
    from pyarrow import parquet

    columns = {"a": [None, *X[1:, 0]], "b": X[:, 1], "town": ["Ulm", "Bonn"] * (N // 2)}
    parquet.write_table(pa.table(columns | {"class": KINDS}), folder / "p.parquet")
    return "p.parquet", []


def arff(folder):
    head = (
        "@relation r\n@attribute a real\n@attribute colour {red, blue, 'dark red'}\n"
        "@attribute when date\n@attribute kind {tulip, rose}\n@data\n"
    )
    colours = ["red", "'dark red'", "blue"]
    rows = [[X[i, 0], colours[i % 3], "2024-01-01", KINDS[i]] for i in range(N)]
    (folder / "w.arff").write_text(head + lines(rows))
    return "w.arff", []


def libsvm(folder):
    rows = [f"{1 if k == 'rose' else -1} {i % 30 + 1}:{X[i, 0]}" for i, k in enumerate(KINDS)]
    (folder / "sparse.txt.gz").write_bytes(gzip.compress("\n".join(rows).encode()))
    return "sparse.txt.gz", []


def lost_header(folder):
    rows = [[119000 + 7 * i, "RN"[i % 2], *X[i], i / 3 if i % 9 else "?"] for i in range(N)]
    (folder / "wpbc.data").write_text(lines(rows))
    return "wpbc.data", ["--target", "1", "--drop", "x1", "--missing", "mean"]


def distances(folder):
    D = np.linalg.norm(X[:, np.newaxis] - X, axis=2).round(3)
    D[0, 1] += 0.25  # and not symmetric
    (folder / "d.csv").write_text(lines(D))
    (folder / "kinds.txt").write_text("\n".join(KINDS))
    return "d.csv", ["--task", "similarity", "--labels", "kinds.txt"]


def ordered(folder):
    import pandas as pd

    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    frame["grade"] = pd.Categorical(GRADES, ["low", "mid", "high"], ordered=True)
    frame.to_parquet(folder / "grades.parquet")
    return "grades.parquet", []


def time_column(folder):
    days = np.datetime_as_string(np.datetime64("2024-01-01") + np.arange(N))
    rows = [[day, *x, k] for day, x, k in zip(days, X, KINDS, strict=True)]
    (folder / "series.tsv").write_text(lines(rows, ["day", "a", "b", "c", "kind"], "\t"))
    return "series.tsv", []


# what is said when the file is added, and when it is run
FILES = {
    "quoted_csv": (
        quoted_csv,
        'column town is nominal: "Ulm, Neu", the "old" town',
        "one-hot: town (2 values)",
    ),
    "excel_csv": (
        excel_csv,
        "numbers have a decimal comma",
        "the text is read as cp1252, not UTF-8",
    ),
    "old_excel": (old_excel, "column picked is left out: dates", "left out: picked (dates"),
    "stata": (
        stata,
        "the task is classification: 40 rows, 3 features, 3 classes: low, mid, high",
        "5 missing entries in 5 of 40 rows are filled in by the column's mean",
    ),
    "matlab": (matlab, "the task is classification: 40 rows, 3 features, 2 classes: 0, 1", ""),
    "parquet": (parquet, "1 of 40 rows with missing", "1 of 40 rows with missing entries is"),
    "arff": (arff, "attribute when is left out: dates", "left out: when (dates)"),
    "libsvm": (libsvm, "the first feature has index 1", ""),
    "lost_header": (lost_header, "the columns have no names: x1 to x6", "left out: x1"),
    "distances": (
        distances,
        "a 40 x 40 matrix, and labels in kinds.txt",
        "the matrix is not symmetric: entries (i, j) and (j, i) differ by up to 0.25",
    ),
    "ordered": (
        ordered,
        "the task is ordinal: 40 rows, 2 features, 3 classes in the order low < mid < high",
        "",
    ),
    "time_column": (
        time_column,
        "column day is left out: dates, such as 2024-01-01, in ascend",
        "random splits mix past and future",
    ),
}
ORDINAL = ["ordered", "stata"]
CONFIG = """\
title: Files of my own
task: {task}
datasets: [{names}]
methods: {{M: {{estimator: {estimator}, n_landmarks: 8}}}}
protocol: {{splits: 2}}
metrics: [{metric}]
table: {{rows: [dataset, method]}}
"""


def test_from_file_to_report(kernlearn, tmp_path):
    added = {}
    for name, (make, said, _) in FILES.items():
        try:
            file, options = make(tmp_path)
        except pytest.skip.Exception:
            continue
        out = kernlearn("datasets", "add", file, "--name", name, *options)
        assert out.returncode == 0, out.stderr
        assert said in out.stdout, out.stdout
        added[name] = FILES[name][2]
    for task, estimator, metric in (
        ("ordinal", "ORLand", "aae"),
        ("classification", "BBSClassifier", "accuracy"),
    ):
        names = [name for name in added if (name in ORDINAL) == (task == "ordinal")]
        config = tmp_path / f"{task}.yaml"
        config.write_text(
            CONFIG.format(task=task, names=", ".join(names), estimator=estimator, metric=metric)
        )
        out = kernlearn("run", config)
        assert out.returncode == 0, out.stdout + out.stderr
        for name in names:
            assert added[name] in "\n".join(
                line for line in out.stdout.splitlines() if line.startswith(f"{name}: ")
            )
        page = (tmp_path / "results" / "runs" / task / "report.html").read_text()
        assert all(name in page for name in names)
    assert len(added) == 12 or "old_excel" not in added


def test_what_is_read_is_what_is_in_the_files(kernlearn, tmp_path):
    from kernlearn.datasets import load

    expected = {
        "quoted_csv": (N, 4),
        "excel_csv": (N, 3),
        "matlab": (N, 3),
        "libsvm": (N, 30),
        "distances": (N, N),
        "ordered": (N, 2),
        "time_column": (N, 3),
    }
    for name, shape in expected.items():
        file, options = FILES[name][0](tmp_path)
        assert kernlearn("datasets", "add", file, "--name", name, *options).returncode == 0
        bunch = load(name, data_dir=tmp_path / "datasets", cache=False)
        assert bunch.data.shape == shape
        if shape == (N, 3):
            np.testing.assert_array_equal(bunch.data, X)
    assert bunch.target_names[bunch.target].tolist() == KINDS.tolist()
    ordinal = load("ordered", data_dir=tmp_path / "datasets", cache=False)
    assert ordinal.target_names.tolist() == ["low", "mid", "high"]
    assert ordinal.target_names[ordinal.target].tolist() == GRADES.tolist()
    towns = load("quoted_csv", data_dir=tmp_path / "datasets", cache=False).card.forms[0].format
    assert towns.nominal == {"town": ("Ulm, Neu", 'the "old" town')}
    info = kernlearn("datasets", "info", "distances")
    assert "the matrix is not symmetric: entries (i, j) and (j, i) differ by up to 0.25" in (
        info.stdout
    )


README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def test_the_config_of_the_readme_says_what_is_done_to_the_file(kernlearn, tmp_path):
    """Rows were left out, `city` became 0, 1, 2 and `id` a feature, and nothing said so."""
    config = re.search(r"```yaml\n(title: Does.*?)```", README, re.DOTALL)[1]
    rows = [
        [i, ["Ulm", "Bonn", "Trier"][i % 3], X[i, 0] if i % 4 else "", KINDS[i]] for i in range(N)
    ]
    (tmp_path / "mine.csv").write_text(lines(rows, ["id", "city", "size", "label"]))
    (tmp_path / "own.yaml").write_text(config)
    out = kernlearn("run", "own.yaml")
    assert out.returncode == 0, out.stdout + out.stderr
    page = (tmp_path / "results" / "runs" / "own" / "report.html").read_text()
    for said in (
        "10 of 40 rows with missing entries are left out",
        "1 nominal column is one-hot: city (3 values)",
        "1 column looks like an id and is kept, unless `drop` names it: id (by its name)",
    ):
        assert f"mine: {said}\n" in out.stdout
        assert said.replace("`", "") in re.sub("<[^>]*>|`", "", page)


def test_of_a_file_that_needs_more_than_its_path_it_is_said(kernlearn, tmp_path):
    for make in (old_excel, lost_header, distances):
        file, _ = make(tmp_path)
        words = {
            "flowers.xls": "This is the first of the sheets notes, flowers; name another by sheet",
            "wpbc.data": "last column, and missing in 5 of 40 rows: name another by target, or "
            "remove these rows; the target could also be column 1 (N, R)",
            "d.csv": "a 40 x 40 matrix, with zeros on the diagonal, and no column of labels",
        }[file]
        refused = kernlearn("init", file)
        assert refused.returncode == 2
        assert words in refused.stderr
    wrong = kernlearn("init", "wpbc.data", "--sheet", "2", "--target", "1")
    assert "sheet: is for Excel and OpenDocument files" in wrong.stderr
    done = kernlearn("init", "flowers.xls", "--sheet", "flowers")
    assert done.returncode == 0, done.stderr
    assert "flowers: 1 column is left out: picked (dates" in done.stdout
    assert "flowers: {file: flowers.xls, sheet: flowers}" in done.stdout


def test_a_matrix_with_labels_without_a_card(kernlearn, tmp_path):
    D = np.linalg.norm(X[:, np.newaxis] - X, axis=2)
    rows = [[*row, kind] for row, kind in zip(D, KINDS, strict=True)]
    (tmp_path / "d.csv").write_text(lines(rows))
    noticed = kernlearn("init", "d.csv")
    assert "the features are a symmetric 40 x 40 matrix: if it compares the rows" in noticed.stdout
    done = kernlearn("init", "d.csv", "--matrix", "distance", "--force")
    assert "d: {file: d.csv, matrix: distance}" in done.stdout
    assert "compares the rows" not in done.stdout
    ran = kernlearn("run", "d.yaml", "--no-report", "--only", "method=k-NN")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    config = tmp_path / "d.yaml"
    config.write_text(config.read_text().replace("train: 0.7", "scale: [zscore]"))
    refused = kernlearn("validate", "d.yaml")
    assert "d is a matrix of similarities, without features to scale" in refused.stderr
