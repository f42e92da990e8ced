"""``kernlearn init``: from a file to a config that runs."""

import json
import re
import shlex
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import yaml

from kernlearn.datasets import load
from kernlearn.engine import fit_method
from kernlearn.yaml import read_yaml
from tests.cli.conftest import write_table

RNG = np.random.default_rng(0)


def sparse(folder):
    rows = [f"{i % 2} {i % 30 + 1}:{RNG.uniform():.2f} {40 + i % 2}:1" for i in range(60)]
    (folder / "s.txt").write_text("\n".join(rows) + "\n")


def queries(folder):
    rows = [f"{i % 3} qid:{i // 8} 1:{RNG.uniform():.2f} 2:{i % 3}" for i in range(80)]
    (folder / "q.txt").write_text("\n".join(rows) + "\n")


def words(folder):
    verbs = ["walk", "talk", "jump", "look"]
    texts = [verbs[i % 4] + ("ed" if i % 3 else "ing") * (1 + i % 2) for i in range(60)]
    write_table(folder / "w.csv", {"word": texts, "n": RNG.uniform(size=60).round(2)})


def distances(folder):
    x = RNG.normal(size=60)
    lines = [",".join([*map(str, abs(x - a).round(3)), "left" if a < 0 else "right"]) for a in x]
    (folder / "d.csv").write_text("\n".join(lines) + "\n")


def objects(name, make):
    def write(folder):
        lines = [json.dumps({"x": make(i), "class": "ab"[i % 2]}) for i in range(40)]
        (folder / name).write_text("\n".join(lines))

    return write


def nothing(folder):
    """A data set of the catalogue needs no file."""


STAR, RING = [(0, j) for j in range(1, 6)], [(j, (j + 1) % 6) for j in range(6)]
KINDS = {
    "classes": (nothing, "iris", ["gradient boosting", "RBF SVM", "BBS", "H0/1"]),
    "numbers": (nothing, "diabetes_sklearn", ["gradient boosting", "SVR", "ridge", "RegLand"]),
    "sparse": (sparse, "s.txt", ["gradient boosting", "scale: [unit_norm]"]),
    "queries": (queries, "q.txt", ["RankLand", "folds: 5"]),
    "strings": (words, "w.csv -o points=word --target n", ["letters", "KR", "RegLand"]),
    "distances": (distances, "d.csv -o matrix=distance", ["k-NN", "selection: shared"]),
    "sets": (
        objects("u.jsonl", lambda i: list("abcd"[i % 3 :] + "xy"[i % 2])),
        "u.jsonl",
        ["jaccard", "comparisons"],
    ),
    "series": (
        objects("t.jsonl", lambda i: np.sin((1 + i % 2) * np.arange(20 + i % 5) / 2 + i).tolist()),
        "t.jsonl",
        ["aeon.dtw", "BBS"],
    ),
    "graphs": (
        objects("g.jsonl", lambda i: {"edges": (STAR, RING)[i % 2]}),
        "g.jsonl",
        ["grakel.weisfeiler_lehman", "BBS"],
    ),
}
NEEDS = {"strings": "rapidfuzz", "series": "aeon", "graphs": "grakel"}


#: Whose runs differ in more than the similarity of the landmarks.
RUN = ("classes", "numbers", "queries", "strings")


def run(kernlearn, config, splits=1):
    """Run a config on few rows; every trial must succeed."""
    out = kernlearn("run", config, "--profile", "quick", "--no-report", "-o", f"splits={splits}")
    assert "FAILED" not in out.stdout


@pytest.mark.parametrize(
    ("kind", "runs"),
    [
        *((kind, kind in RUN) for kind in KINDS),
        *(pytest.param(k, True, marks=pytest.mark.exhaustive) for k in KINDS if k not in RUN),
    ],
)
def test_a_shortlist_for_each_kind_of_data_runs(kernlearn, tmp_path, kind, runs):
    pytest.importorskip(NEEDS.get(kind, "sklearn"))
    make, arguments, words = KINDS[kind]
    make(tmp_path)
    kernlearn("init", *arguments.split(), "-c", "mine.yaml")
    text = (tmp_path / "mine.yaml").read_text()
    assert [word for word in words if word not in text] == []
    if runs:
        run(kernlearn, "mine.yaml")
    else:
        assert "to run" in kernlearn("plan", "mine.yaml", "--profile", "quick").stdout


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "method"),
    [("wine_red", "ORLand"), pytest.param("mq2008", "RankLand", marks=pytest.mark.exhaustive)],
)
def test_grades_and_ranking_run(kernlearn, tmp_path, data_dir, name, method):
    kernlearn("init", name, KERNLEARN_DATA=str(data_dir))
    only = ("--only", f"method={method}", "--only", "method=k-NN")
    options = ("--profile", "quick", "--no-report", "-o", "splits=1", *only)
    kernlearn("run", f"{name}.yaml", *options, KERNLEARN_DATA=str(data_dir))


def test_a_file_becomes_a_config_without_its_ids(kernlearn, flowers, tmp_path):
    kernlearn("init", flowers, "--config", "folder/mine.yaml")
    config = tmp_path / "folder/mine.yaml"
    assert "drop: [id]" in config.read_text()
    assert "to run" in kernlearn("plan", "folder/mine.yaml").stdout
    again = kernlearn("init", flowers, "--config", "folder/mine.yaml", code=2)
    assert "exists; --force replaces it" in again.stderr
    more = ("--force", "--target", "width", "--task", "regression")
    kernlearn("init", flowers, "-c", "folder/mine.yaml", *more)
    assert "RegLand" in config.read_text()


@pytest.mark.parametrize("columns", [["row", "customerId"], ["id", "mouse"]])
def test_a_file_of_ids_is_refused(kernlearn, tmp_path, columns):
    """Sorted by class, nearest neighbours would learn the class from the number of a row."""
    ids = {name: range(100, 160) for name in columns}
    ids |= {"mouse": [f"m{i // 3}" for i in range(60)]} if "mouse" in columns else {}
    write_table(tmp_path / "sorted.csv", {**ids, "label": np.repeat(["a", "b"], 30)})
    out = kernlearn("init", "sorted.csv", code=2)
    assert all(name in out.stderr for name in columns)
    assert not [*tmp_path.glob("*.yaml")]


def test_advice_names_options_of_the_command(kernlearn, tmp_path):
    stars = [1, 2, 3, 4] * 9 + [1] * 3 + [5]
    write_table(tmp_path / "s.csv", {"x": RNG.normal(size=40), "stars": stars})
    out = " ".join(kernlearn("init", "s.csv").stdout.split())
    assert "5 different numbers of the target are taken as classes; the task ordinal" in out
    assert "1 of 5 classes with a single row, as '5'" in out
    out = kernlearn("init", "s.csv", "--force", "--task", "ordinal").stdout
    assert "different numbers" not in out
    write_table(tmp_path / "t.csv", {"w": [f"word{i}" for i in range(60)], "y": list("ab" * 30)})
    assert "`-o points=w`" in kernlearn("init", "t.csv", code=2).stderr
    assert "60 values in 60 rows" in kernlearn("init", "t.csv", "--target", "w", code=2).stderr
    assert "a folder" in kernlearn("init", ".", code=2).stderr
    lines = [f"{i},5;{i * i};{'ab'[i % 2]}" for i in range(20)]
    (tmp_path / "t.csv").write_text("\n".join(["a;b;c", *lines]))
    assert "`-o read_as.decimal=,`" in kernlearn("init", "t.csv", code=2).stderr
    kernlearn("init", "t.csv", "-o", "read_as.decimal=,")


def test_all_faults_of_a_file_come_at_once_and_the_advice_works(kernlearn, tmp_path):
    rows = [
        [f"{i}" if i % 3 else "<5", f"{i},5" if i % 4 else "n/k", "ab"[i % 2]] for i in range(40)
    ]
    lines = ["Survey of 2024", "", "dose;size;kind", "mg;mm;-", *map(";".join, rows)]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    shown = kernlearn("init", "t.csv", code=2).stderr
    assert all(word in shown for word in ("line 1 has 1", "'mg'", "'<5'", "n/k"))
    advice = shlex.split(shown.rpartition("it reads:")[2])
    shown = " ".join(kernlearn("init", "t.csv", *advice).stdout.split())
    assert "'<5' is read as 2.5 in 14 rows of column dose" in shown
    assert read_yaml(tmp_path / "t.yaml")[0]["datasets"]["t"]["read_as"]["decimal"] == ","


@pytest.mark.skipif(sys.platform == "win32", reason="a shell of POSIX")
def test_a_full_disk_leaves_the_config_as_it_is(flowers, tmp_path):
    (tmp_path / "mine.yaml").write_text("mine\n")
    command = [sys.executable, "-m", "kernlearn", "init", flowers, "-c", "mine.yaml", "--force"]
    command = ["sh", "-c", 'ulimit -f 0; "$@"', "sh", *command]
    out = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert out.returncode == 2
    assert out.stderr.endswith("kernlearn: mine.yaml: File too large\n")
    assert (tmp_path / "mine.yaml").read_text() == "mine\n"


@pytest.mark.parametrize("arguments", ["--task poetry", "--target=--5", "-o colour=1"])
def test_what_cannot_be_is_one_message_and_no_file(kernlearn, flowers, tmp_path, arguments):
    out = kernlearn("init", flowers, *arguments.split(), code=2)
    assert re.split("[ =]", arguments)[1] in out.stderr
    assert not [*tmp_path.glob("*.yaml")]


def test_a_config_is_not_written_on_a_remnant(kernlearn, tmp_path):
    """Gaps are filled in; who drops rows is shown the columns that cost them, and what works."""
    rows = [f"{i % 7},{'x' if i % 10 == 0 else ''},{'ab'[i % 2]}" for i in range(60)]
    (tmp_path / "f.csv").write_text("\n".join(["n,note,kind", *rows]) + "\n")
    out = kernlearn("init", "f.csv", "-o", "missing=drop", code=2)
    assert "54 of 60 rows with missing entries were left out (note in 54)" in out.stdout
    assert "90% of the rows would be left out: -o missing=impute" in " ".join(out.stderr.split())
    assert not (tmp_path / "f.yaml").exists()
    for options in ((), ("-o", "missing=impute"), ("-o", "drop=[note]")):
        kernlearn("init", "f.csv", "--force", *options)
        config = (tmp_path / "f.yaml").read_text()
        assert ("missing: impute" in config) == (options[1:] != ("drop=[note]",))
        assert "60 rows" in kernlearn("plan", "f.yaml", "--no-try").stdout


@pytest.mark.parametrize("n_rows", [120, 800])  # 20 mice, or too many for a nominal column
def test_rows_of_one_animal_are_no_feature(kernlearn, tmp_path, n_rows):
    """What is advised works as it stands, and is not advised again."""
    n = n_rows // 6 if n_rows < 200 else n_rows // 3
    rows = [f"{i % 13},m{i % n:03},{'ab'[i % 2]}" for i in range(n_rows)]
    (tmp_path / "mice.csv").write_text("\n".join(["n,mouse,kind", *rows]) + "\n")
    out = " ".join(kernlearn("init", "mice.csv").stdout.split())
    shown = f"mouse ({n} values in {n_rows} rows)"
    assert shown in out
    config = (tmp_path / "mice.yaml").read_text()
    assert "drop: [mouse]" in config
    assert "stratify: true" in config
    assert "groups: mouse" in config
    assert "share" not in kernlearn("plan", "mice.yaml", "--no-try").stdout
    run(kernlearn, "mice.yaml")


def test_dropped_columns_have_no_part_in_bandwidths(kernlearn, tmp_path):
    columns = {"n": RNG.normal(size=60).round(3), "kind": list("ab" * 30)}
    write_table(tmp_path / "few.csv", columns)
    ids = {"id": range(60), "patient": [f"P{i % 20}" for i in range(60)]}
    write_table(tmp_path / "more.csv", {**ids, **columns})
    methods = []
    for name in ("few", "more"):
        kernlearn("init", f"{name}.csv")
        methods.append(read_yaml(tmp_path / f"{name}.yaml")[0]["methods"])
    assert methods[0] == methods[1]


@pytest.mark.parametrize(
    ("names", "is_kept"),
    [([f"clerk {a}" for a in "abcdefghijklmno"], True), ([f"J{i:02}" for i in range(15)], False)],
)
def test_words_are_a_feature_and_codes_that_repeat_are_not(kernlearn, tmp_path, names, is_kept):
    """Only a name or codes tell that rows belong together."""
    pay = RNG.normal(size=90).round(3)
    write_table(
        tmp_path / "pay.csv", {"n": [i % 40 for i in range(90)], "job": names * 6, "pay": pay}
    )
    made = kernlearn("init", "pay.csv", "--task", "regression")
    config = read_yaml(tmp_path / "pay.yaml")[0]
    assert ("{groups: job}" in " ".join(made.stdout.split())) == is_kept
    assert ("job" in config["datasets"]["pay"].get("drop", [])) != is_kept
    assert ("groups" in config["protocol"]) != is_kept


@pytest.mark.parametrize("target", ["kind", "n"])
def test_text_beside_columns_has_a_method(kernlearn, tmp_path, target):
    notes = [f"{'good' if i % 2 else 'bad'} day {i}" for i in range(60)]
    n = ["" if i % 9 == 4 else i % 7 / 2 + i / 8 for i in range(60)]
    columns = {"note": notes, "n": n, "colour": list("rgb" * 20), "kind": list("pq" * 30)}
    write_table(tmp_path / "f.csv", columns)
    assert "`read_as: {text: [note]}`" in kernlearn("init", "f.csv", "--target", target).stdout
    options = ("--target", target, "-o", "read_as.text=[note]", "--force")
    assert "read_as:" not in kernlearn("init", "f.csv", *options).stdout
    config = (tmp_path / "f.yaml").read_text()
    only = ("--only", "method=text and columns", "-o", "splits=1")
    assert "FAILED" not in kernlearn("run", "f.yaml", "--no-report", *only).stdout
    (tmp_path / "f.yaml").write_text(re.sub(r"(?s)  text and columns:.*?(?=\n\w)", "", config))
    assert "no method uses note" in kernlearn("plan", "f.yaml", "--no-try").stdout


@pytest.mark.parametrize(("n_rare", "first"), [(16, "balanced_accuracy"), (60, "accuracy")])
def test_a_rare_class_is_measured_like_the_others(kernlearn, tmp_path, n_rare, first):
    kinds = ["p", "q"] * ((200 - n_rare) // 2) + ["r"] * n_rare
    write_table(tmp_path / "f.csv", {"x": RNG.normal(size=200).round(3), "kind": kinds})
    kernlearn("init", "f.csv")
    assert read_yaml(tmp_path / "f.yaml")[0]["metrics"][0] == first


@pytest.mark.parametrize("as_number", [False, True])
def test_visits_of_most_patients_once_or_twice_are_grouped(kernlearn, tmp_path, as_number):
    visits = RNG.permutation([*range(200), *range(100)])
    kinds = RNG.choice(["a", "b"], 200)[visits]
    keys = visits * 7 + 3 if as_number else [f"k{i}" for i in visits]
    write_table(tmp_path / "f.csv", {"key": keys, "x": RNG.normal(size=300), "kind": kinds})
    kernlearn("init", "f.csv")
    assert read_yaml(tmp_path / "f.yaml")[0]["protocol"]["groups"] == "key"


def test_what_has_an_order_is_ordinal(kernlearn, tmp_path):
    grades = RNG.choice(["low", "mid", "high"], 60)
    write_table(tmp_path / "f1.5.csv", {"x": RNG.normal(size=60), "grade": grades})
    kernlearn("init", "f1.5.csv", "-o", "grades=[low, mid, high]")
    assert read_yaml(tmp_path / "f1_5.yaml")[0]["task"] == "ordinal"


def test_numbers_of_rows_and_of_gaps_are_named(kernlearn, tmp_path):
    rows = {"nr": np.cumsum(RNG.integers(1, 9, 90)), "x": RNG.normal(size=90)}
    rows["x"][::9] = -99
    write_table(tmp_path / "f.csv", {**rows, "kind": RNG.choice(["a", "b"], 90)})
    out = kernlearn("init", "f.csv").stdout
    assert "x in 10 rows" in out
    assert read_yaml(tmp_path / "f.yaml")[0]["datasets"]["f"]["drop"] == ["nr"]


def test_what_makes_scores_mean_little_is_named(kernlearn, tmp_path):
    cause = ["acute", "chronic", ""] * 30
    rows = [f"{i % 31},{text},{'no' if text == '' else 'yes'}" for i, text in enumerate(cause)]
    (tmp_path / "t.csv").write_text("\n".join(["age,cause,died", *rows, *rows[:9], "7,,rare"]))
    out = kernlearn("init", "t.csv").stdout
    assert "cause has entries in 66 rows, all of yes" in out
    assert "9 of 100 rows repeat another" in out
    assert "class rare has 1 rows" in out
    assert "missing: impute" in (tmp_path / "t.yaml").read_text()


@pytest.mark.parametrize("target", ["label", "total"])
def test_features_that_give_the_target_away_are_named(kernlearn, tmp_path, target):
    a, b, c = RNG.normal(size=(3, 90))
    values = {"label": np.where(a > 0.2, "yes", "no"), "total": b + c}[target]
    write_table(tmp_path / "t.csv", {"a": a, "b": b, "c": c, target: values})
    shown = kernlearn("init", "t.csv").stdout.splitlines()
    named = [line for line in shown if "separates" in line or "linear function" in line]
    assert len(named) == 1
    assert ("a alone" in named[0]) == (target == "label")


def test_a_year_can_divide_the_rows_and_dates_must_be_clear(kernlearn, tmp_path):
    n = RNG.normal(size=160).round(3)
    columns = {"firm": [f"firm {i // 20}" for i in range(160)], "year": [*range(1950, 1970)] * 8}
    write_table(tmp_path / "f.csv", {**columns, "n": n, "y": n * 2})
    out = " ".join(kernlearn("init", "f.csv").stdout.split())
    assert "`protocol: {time: year}` in place of train, each" in out
    days = [f"0{i % 9 + 1}/{i % 12 + 1:02}/20{i // 12 + 10}" for i in range(160)]
    for kind, told in (("13/01/2009", False), ("01/02/2009", True)):
        write_table(tmp_path / "d.csv", {"day": [*days[1:], kind], "n": n, "y": n * 2})
        out = " ".join(kernlearn("init", "d.csv", "--force").stdout.split())
        assert "{time: day}` in place of train" in out
        assert ("written as 2023-12-31" in out) == told


def test_dates_can_divide_the_rows(kernlearn, tmp_path):
    dates = [f"2023-{i // 28 + 1:02}-{i % 28 + 1:02}" for i in RNG.permutation(160)]
    columns = {"date": dates, "n": RNG.normal(size=160).round(3), "kind": list("ab" * 80)}
    write_table(tmp_path / "days.csv", columns)
    out = " ".join(kernlearn("init", "days.csv").stdout.split())
    assert "`protocol: {time: date}` in place of train and stratify" in out
    config = (tmp_path / "days.yaml").read_text()
    config = config.replace("  train: 0.7\n", "").replace("stratify: true", "time: date")
    (tmp_path / "days.yaml").write_text(config)
    run(kernlearn, "days.yaml", splits=2)


def test_persons_of_a_panel_are_groups(kernlearn, tmp_path):
    years, persons = [*range(2010, 2018)] * 30, np.repeat(RNG.permutation(900)[:30], 8)
    age = RNG.integers(20, 60, size=240)
    rows = {"person_key": persons, "year": years, "age": age, "x": RNG.normal(size=240)}
    write_table(tmp_path / "t.csv", {**rows, "kind": [*"ab"] * 120})
    kernlearn("init", "t.csv")
    written = read_yaml(tmp_path / "t.yaml")[0]
    assert written["protocol"]["groups"] == "person_key"
    assert written["datasets"]["t"]["drop"] == ["person_key"]
    kernlearn("init", "t.csv", "--force", "-o", "groups=null")
    written = read_yaml(tmp_path / "t.yaml")[0]
    assert "groups" not in written["protocol"]
    assert "drop" not in written["datasets"]["t"]


def test_grades_have_their_usual_order(kernlearn, tmp_path):
    rows = {"x": RNG.normal(size=60), "pain": ["severe", "none", "mild"] * 20}
    write_table(tmp_path / "t.csv", rows)
    kernlearn("init", "t.csv", "--task", "ordinal")
    written = read_yaml(tmp_path / "t.yaml")[0]
    assert written["datasets"]["t"]["grades"] == ["none", "mild", "severe"]


def test_entries_far_from_the_others_are_named_and_scaled(kernlearn, tmp_path):
    rows = {name: RNG.normal(size=120) for name in ("x", "z")}
    kind = np.where(rows["x"] + rows["z"] > 0, "a", "b")
    rows["x"][::40] *= 1e4
    write_table(tmp_path / "t.csv", {**rows, "kind": kind})
    assert "x (3)" in kernlearn("init", "t.csv").stdout
    path = tmp_path / "t.yaml"
    accuracies = []
    for scale in ("zscore_numbers", "robust"):
        path.write_text(path.read_text().replace("zscore_numbers", scale))
        accuracies.append(fit_method(path, "RBF SVM").score(*scored(rows, kind)))
    assert accuracies[1] > accuracies[0]


def scored(rows, kind):
    return pd.DataFrame(rows)[4:39], kind[4:39]


@pytest.mark.parametrize("step", [1, -1])
def test_rows_that_follow_each_other_in_time_are_divided_by_it(kernlearn, tmp_path, step):
    dates = [f"{i // 28 + 1:02}/{i % 28 + 1:02}/2023" for i in range(160)][::step]
    columns = {"date": dates, "n": RNG.normal(size=160).round(3), "kind": list("ab" * 80)}
    write_table(tmp_path / "days.csv", columns)
    kernlearn("init", "days.csv")
    protocol = read_yaml(tmp_path / "days.yaml")[0]["protocol"]
    assert protocol["time"] == "date"
    columns = {"t": [*range(160)], **columns}  # a trend, no number of rows
    write_table(tmp_path / "days.csv", columns)
    kernlearn("init", "days.csv", "--force")
    assert "drop" not in read_yaml(tmp_path / "days.yaml")[0]["datasets"]["days"]
    assert not {"train", "folds", "stratify"} & protocol.keys()
    run(kernlearn, "days.yaml", splits=2)


def test_labels_in_another_file(kernlearn, tmp_path):
    x, names = RNG.normal(size=40).round(3), [f"p{i}" for i in range(40)]
    rows = {name: abs(x - a).round(3) for name, a in zip(names, x, strict=True)}
    write_table(tmp_path / "d.csv", {"name": names, **rows})
    kinds = {"name": names[::-1], "kind": np.where(x < 0, "left", "right")[::-1]}
    write_table(tmp_path / "kinds.csv", kinds)
    assert "labels" in kernlearn("init", "d.csv", "-o", "matrix=distance", code=2).stderr
    options = ("-o", "matrix=distance", "-o", "labels=kinds.csv", "-c", "folder/mine.yaml")
    kernlearn("init", "d.csv", *options)
    assert read_yaml(tmp_path / "folder/mine.yaml")[0]["datasets"]["d"]["labels"] == "../kinds.csv"
    run(kernlearn, "folder/mine.yaml")


@pytest.mark.parametrize(("spread", "is_written"), [(0, True), (5, False)])
def test_methods_for_series_of_one_length_take_all(kernlearn, tmp_path, spread, is_written):
    objects("m.jsonl", lambda i: np.ones((2, 20 + i % (spread + 1))).tolist())(tmp_path)
    kernlearn("init", "m.jsonl")
    assert ("MiniRocket" in read_yaml(tmp_path / "m.yaml")[0]["methods"]) == is_written


def test_classes_with_a_usual_order_are_named_and_taken_as_grades(kernlearn, tmp_path):
    risk = ["High", "low", "Mid"] * 20
    write_table(tmp_path / "t.csv", {"x": RNG.normal(size=60), "risk": risk})
    shown = kernlearn("init", "t.csv").stdout.replace("\n  ", " ")
    advice = shown.partition("an order: `")[2].partition("`")[0]
    kernlearn("init", "t.csv", "--force", *shlex.split(advice))
    written = read_yaml(tmp_path / "t.yaml")[0]
    assert written["task"] == "ordinal"
    assert written["datasets"]["t"]["grades"] == ["low", "Mid", "High"]


def test_features_with_a_usual_order_are_named_and_read_as_numbers(kernlearn, tmp_path):
    answers, sizes = ["never", "often", "Always"] * 20, ["small", "medium", "large"] * 20
    rows = {"q1": answers, "q2": answers[::-1], "size": sizes, "kind": [*"ab"] * 30}
    write_table(tmp_path / "t.csv", rows)
    shown = kernlearn("init", "t.csv").stdout.replace("\n  ", " ")
    advice = yaml.safe_load(shown.partition("an order: `")[2].partition("`")[0])
    assert advice["read_as"]["replace"]["Always"] == 2
    kernlearn(
        "init",
        "t.csv",
        "--force",
        "-o",
        f"read_as.replace={json.dumps(advice['read_as']['replace'])}",
    )
    bunch = load(tmp_path / "t.csv", read_as=advice["read_as"])
    assert bunch.feature_names.tolist() == ["q1", "q2", "size"]
    np.testing.assert_array_equal(bunch.data[:3], [[0, 2, 0], [1, 1, 1], [2, 0, 2]])


@pytest.mark.parametrize("missing", [False, True])
def test_every_method_for_a_matrix_takes_new_rows(kernlearn, tmp_path, missing):
    points = RNG.normal(size=(60, 2))
    D = np.linalg.norm(points[:, None] - points, axis=2)
    if missing:
        D[3, 7] = D[7, 3] = np.nan
    np.savez(tmp_path / "d.npz", D=D, y=(points[:, 0] > 0).astype(int))
    kernlearn("init", "d.npz", "-o", "matrix=distance")
    for method in read_yaml(tmp_path / "d.yaml")[0]["methods"]:
        model = fit_method(tmp_path / "d.yaml", method)
        assert model.predict(D[10:20]).shape == (10,), method


def test_an_order_that_is_not_known_is_asked_for(kernlearn, tmp_path):
    rows = {"x": RNG.normal(size=60), "shade": ["pale", "dark", "grey"] * 20}
    write_table(tmp_path / "t.csv", rows)
    assert "grades=" in kernlearn("init", "t.csv", "--task", "ordinal", code=2).stderr
    kernlearn("init", "t.csv", "--task", "ordinal", "-o", 'grades=["pale", "grey", "dark"]')


def test_answers_that_have_no_place_in_a_scale_are_missing(kernlearn, tmp_path):
    answers = ["Agree", "Disagree", "Neither agree nor disagree", "Don't know"] * 15
    write_table(tmp_path / "t.csv", {"q1": answers, "x": [*range(60)], "kind": [*"ab"] * 30})
    shown = kernlearn("init", "t.csv").stdout.replace("\n  ", " ")
    advice = yaml.safe_load(shown.partition("an order: `")[2].partition("`")[0])
    bunch = load(tmp_path / "t.csv", missing="impute", read_as=advice["read_as"])
    np.testing.assert_array_equal(bunch.data[:4, 0], [2, 0, 1, np.nan])
