"""``kernlearn check``."""

from xml.etree import ElementTree

import pytest

from tests.command import command

STORE = "results/runs/store.sqlite"
CELL = "moons · K · accuracy"


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """A folder with a config, a finished quick run of it, and the baseline that it wrote."""
    folder = tmp_path_factory.mktemp("session")
    (folder / "mine.yaml").write_text(
        "title: Mine\n"
        "datasets: {moons: {generator: two_moons, n_samples: 80}, rings: {generator: rings}}\n"
        "methods: {K: {estimator: DummyClassifier}, N: {estimator: SimilarityKNNClassifier,"
        " similarity: gaussian}}\n"
        "protocol: {splits: 3}\nmetrics: [accuracy, fit_seconds]\n"
        "profiles: {quick: {splits: 2}}\n"
    )
    out = command(
        folder, "run", "mine.yaml", "--profile", "quick", "--summary", "results/baseline"
    )
    assert out.returncode == 0, out.stderr
    return folder


@pytest.fixture
def session(measured, tmp_path):
    """The same in a folder of its own."""
    for name in ("mine.yaml", STORE, "results/baseline/mine.csv", "results/baseline/mine.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes((measured / name).read_bytes())
    return tmp_path


def edit(folder, change):
    """Change the fields of each line of the baseline; None takes a line away."""
    path = folder / "results/baseline/mine.csv"
    heads, *lines = path.read_text().splitlines()
    changed = [change(line.split(",")) for line in lines]
    path.write_text("\n".join([heads, *(",".join(c) for c in changed if c)]) + "\n")


def is_cell(fields):
    return fields[1] == "moons" and fields[3] == "K" and fields[5] == "accuracy"


def test_what_was_just_measured_passes(session):
    out = command(session, "check", "mine.yaml")
    assert (out.returncode, out.stderr) == (0, "")
    assert out.stdout == "mine: 30 cells: 10 same, 20 timed\n"


def test_a_wrong_number_fails_and_is_named(session):
    edit(session, lambda f: [*f[:6], "0.123", *f[7:]] if is_cell(f) else f)
    out = command(session, "check", "mine.yaml", "--junit", "reports/junit.xml")
    assert out.returncode == 1
    assert "1 moved" in out.stdout
    (named,) = [line for line in out.stdout.splitlines() if line.startswith("  ")]
    assert named.startswith(f"  moved: {CELL}: 0.123 in the baseline, 0.")
    assert "allowed 0.0" in named
    root = ElementTree.parse(session / "reports/junit.xml").getroot()
    failed = [case for case in root.iter("testcase") if case.find("failure") is not None]
    assert [case.get("name") for case in failed] == [CELL]
    assert failed[0].get("classname") == "mine"
    # the config may allow it
    allowed = command(session, "check", "mine.yaml", "-o", "drift.accuracy.absolute=1")
    assert allowed.returncode == 0, allowed.stdout


def test_cells_missing_on_either_side_are_named(session):
    def change(fields):
        if is_cell(fields):
            return None
        return [fields[0], "dunes", *fields[2:]] if fields[1] == "rings" else fields

    edit(session, change)
    out = command(session, "check", "mine.yaml")
    assert out.returncode == 1
    assert f"  new: {CELL}: not in the baseline, 0." in out.stdout
    assert "  missing: dunes · K · accuracy: 0." in out.stdout
    assert "  new: rings · K · accuracy: not in the baseline, " in out.stdout


def test_times_may_be_any(session):
    edit(session, lambda f: [*f[:6], "1e9", *f[7:]] if f[5].endswith("_seconds") else f)
    assert command(session, "check", "mine.yaml").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["mine.yaml", "--against", "nowhere"], "nowhere: no such folder"),
        (["mine.yaml", "--store", "none"], "none: no such store"),
        (["mine.yaml", "--profile", "full"], "measured under profile 'quick', not 'full'"),
        (["quickstart"], "results/baseline/quickstart.csv: no such file; summaries here: mine"),
        (
            ["mine.yaml", "-o", "seed=7"],
            "results of mine under profile 'quick'; `kernlearn run",
        ),
        (["mine.yaml", "-o", "drift.speed.relative=1"], "no metric 'speed'"),
        (["mine.yaml", "--junit", "mine.yaml/x"], "mine.yaml/x: cannot be written"),
    ],
)
def test_a_fault_is_one_message(session, arguments, said):
    out = command(session, "check", *arguments)
    assert out.returncode == 2
    assert said in out.stderr
    assert "Traceback" not in out.stderr


def test_a_broken_baseline_is_told_by_its_line(session):
    edit(session, lambda f: [*f[:6], "nine", *f[7:]] if is_cell(f) else f)
    out = command(session, "check", "mine.yaml")
    assert out.returncode == 2
    assert "mine.csv:2: mean is not a number: 'nine'" in out.stderr


def test_one_fault_does_not_hide_the_others(session):
    edit(session, lambda f: [*f[:6], "0.123", *f[7:]] if is_cell(f) else f)
    out = command(session, "check", "mine.yaml", "quickstart", "--junit", "junit.xml")
    assert out.returncode == 2
    assert f"moved: {CELL}" in out.stdout
    assert "quickstart.csv: no such file" in out.stderr
    assert (session / "junit.xml").exists()


def test_what_is_left_out_does_not_fail(session):
    config = session / "mine.yaml"
    text = config.read_text().replace(
        "rings: {generator", "face_rec: {optional: true}, rings: {generator"
    )
    config.write_text(text)
    path = session / "results/baseline/mine.csv"
    row = next(line for line in path.read_text().splitlines() if line.startswith("mine,moons"))
    path.write_text(path.read_text() + row.replace("moons", "face_rec") + "\n")
    out = command(session, "check", "mine.yaml", "--junit", "junit.xml")
    assert out.returncode == 0, out.stdout + out.stderr
    assert "1 left out" in out.stdout
    suite = ElementTree.parse(session / "junit.xml").getroot()[0]
    assert (suite.get("failures"), suite.get("skipped")) == ("0", "1")
