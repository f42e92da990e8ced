"""``kernlearn init``, ``show`` and ``runs``: from a file to a config, and what it means."""

import json

import numpy as np
import pytest

from tests.engine.stores import begun, done, failed, trial

RNG = np.random.default_rng(0)


def table(path, columns):
    """Write a file of columns with a header."""
    rows = zip(*columns.values(), strict=True)
    lines = [columns, *rows]
    path.write_text("\n".join(",".join(map(str, line)) for line in lines) + "\n")


@pytest.fixture
def flowers(tmp_path):
    """A file of a user: the number of a row, two measurements, a word to predict."""
    length, width = RNG.normal(size=(2, 60)).round(3)
    colour = np.where(length + width > 0, "red", "blue")
    columns = {"id": range(60), "length": length, "width": width, "colour": colour}
    table(tmp_path / "my flowers.csv", columns)


def sparse(folder):
    rows = [f"{i % 2} {i % 30 + 1}:{RNG.uniform():.2f} {40 + i % 2}:1" for i in range(60)]
    (folder / "s.txt").write_text("\n".join(rows) + "\n")


def words(folder):
    verbs = ["walk", "talk", "jump", "look"]
    texts = [verbs[i % 4] + ("ed" if i % 3 else "ing") * (1 + i % 2) for i in range(60)]
    table(folder / "w.csv", {"word": texts, "n": RNG.uniform(size=60).round(2)})


def distances(folder):
    x = RNG.normal(size=60)
    lines = [",".join([*map(str, abs(x - a).round(3)), "left" if a < 0 else "right"]) for a in x]
    (folder / "d.csv").write_text("\n".join(lines) + "\n")


def series(folder):
    waves = [np.sin((1 + i % 2) * np.arange(20 + i % 5) / 2 + i).round(3) for i in range(40)]
    lines = [{"x": wave.tolist(), "class": "ab"[i % 2]} for i, wave in enumerate(waves)]
    (folder / "t.jsonl").write_text("\n".join(map(json.dumps, lines)))


def sets(folder):
    lines = [{"x": list("abcd"[i % 3 :] + "xy"[i % 2]), "class": "xy"[i % 2]} for i in range(40)]
    (folder / "u.jsonl").write_text("\n".join(map(json.dumps, lines)))


def graphs(folder):
    star, ring = ([(0, j) for j in range(1, 6)], [(j, (j + 1) % 6) for j in range(6)])
    lines = [{"x": {"edges": (star, ring)[i % 2]}, "class": "ab"[i % 2]} for i in range(40)]
    (folder / "g.jsonl").write_text("\n".join(map(json.dumps, lines)))


def nothing(folder):
    """A data set of the catalogue needs no file."""


KINDS = {
    "classes": (nothing, "iris", ["gradient boosting", "RBF SVM", "BBS", "H0/1"]),
    "numbers": (nothing, "diabetes_sklearn", ["gradient boosting", "SVR", "ridge", "RegLand"]),
    "sparse": (sparse, "s.txt", ["gradient boosting", "scale: [max_norm]"]),
    "strings": (words, "w.csv --points word --target n", ["letters", "KR", "RegLand"]),
    "distances": (distances, "d.csv --matrix distance", ["k-NN", "SVM, clipped spectrum"]),
    "sets": (sets, "u.jsonl", ["jaccard", "BBS"]),
    "series": (series, "t.jsonl", ["aeon.dtw", "BBS"]),
    "graphs": (graphs, "g.jsonl", ["grakel.weisfeiler_lehman", "BBS"]),
}
NEEDS = {"strings": "rapidfuzz", "series": "aeon", "graphs": "grakel"}


def run(kernlearn, config):
    """Run a config on few rows in this process; every trial must succeed."""
    out = kernlearn("run", config, "--profile", "quick", "--no-report", "-o", "splits=1")
    assert out.returncode == 0, out.stdout + out.stderr
    assert "failed" not in out.stdout


@pytest.mark.parametrize("kind", KINDS)
def test_a_shortlist_for_each_kind_of_data_runs(kernlearn, tmp_path, kind):
    pytest.importorskip(NEEDS.get(kind, "sklearn"))
    make, arguments, words = KINDS[kind]
    make(tmp_path)
    made = kernlearn("init", *arguments.split(), "-c", "mine.yaml")
    assert made.returncode == 0, made.stderr
    assert all(word in (tmp_path / "mine.yaml").read_text() for word in words)
    run(kernlearn, "mine.yaml")


@pytest.mark.data
@pytest.mark.parametrize(("name", "method"), [("wine_red", "ORLand"), ("mq2008", "RankLand")])
def test_grades_and_ranking_run(kernlearn, tmp_path, data_dir, name, method):
    made = kernlearn("init", name, KERNLEARN_DATA=str(data_dir))
    assert made.returncode == 0, made.stderr
    assert f"{method}: {{" in made.stdout
    only = ("--only", f"method={method}", "--only", "method=k-NN")
    options = ("--profile", "quick", "--no-report", "-o", "splits=1", *only)
    out = kernlearn("run", f"{name}.yaml", *options, KERNLEARN_DATA=str(data_dir))
    assert out.returncode == 0, out.stdout + out.stderr


def test_a_file_becomes_a_config_without_its_ids(kernlearn, flowers, tmp_path):
    made = kernlearn("init", "my flowers.csv", "--config", "folder/mine.yaml")
    assert made.returncode == 0, made.stderr
    config = tmp_path / "folder/mine.yaml"
    assert "{file: ../my flowers.csv, drop: [id]}" in config.read_text()
    assert [p.name for p in config.parent.iterdir()] == ["mine.yaml"]
    run(kernlearn, "folder/mine.yaml")
    again = kernlearn("init", "my flowers.csv", "--config", "folder/mine.yaml")
    assert again.returncode == 2
    assert "exists; --force replaces it" in again.stderr
    more = ("--force", "--target", "width", "--task", "regression")
    number = kernlearn("init", "my flowers.csv", "-c", "folder/mine.yaml", *more)
    assert number.returncode == 0, number.stderr
    assert "target: width" in config.read_text()
    assert "RegLand" in config.read_text()


@pytest.mark.parametrize("columns", [["id"], ["row", "customerId"]])
def test_a_file_of_ids_is_refused(kernlearn, tmp_path, columns):
    """Sorted by class, nearest neighbours would find the class from the number of a row."""
    ids = {name: range(100, 160) for name in columns}
    table(tmp_path / "sorted.csv", {**ids, "label": np.repeat(["a", "b"], 30)})
    out = kernlearn("init", "sorted.csv")
    assert out.returncode == 2
    assert all(name in out.stderr for name in ("looks like an id", *columns))
    assert not [*tmp_path.glob("*.yaml")]


@pytest.mark.parametrize(
    "arguments",
    [
        ("none.csv",),
        ("my flowers.csv", "--task", "poetry"),
        ("my flowers.csv", "--target", "hue"),
    ],
)
def test_what_cannot_be_is_one_message_and_no_file(kernlearn, flowers, tmp_path, arguments):
    out = kernlearn("init", *arguments)
    assert out.returncode == 2
    assert arguments[-1] in out.stderr
    assert "Traceback" not in out.stderr
    assert not [*tmp_path.glob("*.yaml")]


def test_show_names_the_steps_of_a_pipeline(kernlearn):
    out = kernlearn("show", "today_landmarks")
    assert out.returncode == 0, out.stderr
    assert "NystroemEmbedding, Nyström features of any kernel → LinearSVM" in out.stdout
    assert "n_landmarks 10, 30, 100, 300, each a row of the table" in out.stdout
    assert "gradient boosting       sklearn.ensemble.HistGradient" in out.stdout
    assert "transfers [1, 10]\n" in out.stdout  # one value, which is a list


def test_show_says_what_a_config_means(kernlearn, small, flowers):
    out = kernlearn("show", small)
    assert out.returncode == 0, out.stderr
    for words in (
        "small: A small experiment",
        "waveform  made by waveform (n_samples 300); two classes: a random half",
        "K     KernelSVM, exact kernel SVM by LIBSVM",
        "C chosen among 0.1, 10 (2 values) on held-out points",
        "n_components 10, 40, each a row of the table",
        "n_components by data set: default: 20; moons: 10",
        "Splits: 2 random splits, 60 % of the rows to train; seed 1",
        "Parameters are chosen on 20 % of the training part, in each split",
        "Scaling: features to mean 0 and standard deviation 1, then all points",
        "Profiles, smaller versions: quick (splits 1, methods.RF.n_components 10)",
        "Trials: 16; time unknown until the first have run",
    ):
        assert words in out.stdout, words
    kernlearn("init", "my flowers.csv", "-c", "mine.yaml")
    assert (
        "my flowers.csv: 60 rows, 2 features, 2 classes" in kernlearn("show", "mine.yaml").stdout
    )


def test_runs_lists_what_compare_takes(kernlearn, tmp_path):
    path = tmp_path / "results/runs/store.sqlite"
    for method in ("one", "two"):
        with begun(path) as (_, put):
            for split in range(2):
                t = trial("same", split)
                put(t, done(t, accuracy=0.5))
            put(trial(method), failed(trial(method)))
    out = kernlearn("runs")
    assert out.returncode == 0, out.stderr
    rows = [line.split() for line in out.stdout.splitlines() if " e " in line]
    # number, trials, failed, replaced; the first run's results were measured again
    assert [(r[0], *r[5:8]) for r in rows] == [("1", "2", "1", "2"), ("2", "2", "1", "–")]
    assert "`kernlearn compare 1 2` compares two runs." in out.stdout
    assert kernlearn("compare", "1", "2").returncode == 0


def test_every_command_has_an_example(kernlearn):
    listed = kernlearn("--help").stdout.partition("Commands:")[2]
    names = [
        line.split()[0]
        for line in listed.splitlines()
        if line.startswith("  ") and not line.startswith("   ")
    ]
    assert {"init", "show", "runs", "run", "plan", "compare"} <= {*names}
    for name in names:
        if name != "datasets":
            assert f"\n    kernlearn {name}" in kernlearn(name, "--help").stdout, name
