import re
import subprocess
import sys

import pytest

from kernlearn.config import find_config, load_config
from kernlearn.datasets.resources import shipped
from kernlearn.exceptions import ConfigError
from tests.shipped import NEEDED

SHIPPED = sorted(p.stem for p in shipped("configs").glob("*.yaml"))


@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.parametrize("profile", ["full", "quick"])
def test_shipped_configs_are_valid(name, profile):
    pytest.importorskip(NEEDED.get(name, "kernlearn"))
    assert load_config(name, profile=profile).name == name


def test_a_config_is_found_by_path_or_by_name(small):
    assert find_config(small) == small
    assert find_config("quickstart") == shipped("configs") / "quickstart.yaml"
    assert find_config("configs/quickstart.yaml").is_file()
    with pytest.raises(ConfigError, match="did you mean 'table3_1'"):
        find_config("tabel3_1")
    with pytest.raises(ConfigError, match="no such file"):
        find_config("somewhere/else/table3_1.yaml")


def test_profile_and_settings_in_this_order(small):
    assert load_config(small).config.protocol.splits == 2
    quick = load_config(small, profile="quick").config
    assert quick.protocol.splits == 1
    assert quick.methods["RF"].parameters["n_components"] == 10
    both = load_config(small, profile="quick", settings=["splits=7", "methods.K.C=1e-2"]).config
    assert both.protocol.splits == 7
    assert both.methods["K"].parameters["C"] == 0.01


def faults(path, old, new, **options):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(ConfigError) as caught:
        load_config(path, **options)
    return str(caught.value).replace(str(path), "f").splitlines()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "protocol: {splits",
            "protocol: {split",
            "f:11: protocol.split: unknown key; did you mean 'splits'?",
        ),
        (
            "splits: 2",
            "splits: 0",
            "f:11: protocol.splits: input should be greater than or equal to 1, not 0",
        ),
        ("splits: 2", "splits: many", "f:11: protocol.splits: must be a whole number, not 'many'"),
        (
            "zscore,",
            "zscores,",
            "f:11: protocol.scale.0: 'zscores' is not allowed; did you mean 'zscore'?",
        ),
        ("title: A small experiment", "titel: x", "f:1: title: is missing"),
        (
            "KernelSVM",
            "KernalSVM",
            "f:8: methods.K.estimator: no estimator 'KernalSVM'; did you mean 'KernelSVM'?",
        ),
        (
            "h01: true",
            "H01: true",
            "f:10: methods.H0/1.H01: MaclaurinSVM has no such parameter; did you mean 'h01'?",
        ),
        (
            "kernel: polynomial",
            "kernel: PolyKernel",
            "no kernel 'PolyKernel'; did you mean 'polynomial'?",
        ),
        ("degree: 3", "degre: 3", "f:6: kernels.polynomial.degre: polynomial has no such"),
        (
            "generator: waveform",
            "generator: wave",
            "f:3: datasets.waveform.generator: no generator 'wave'; did you mean 'waveform'?",
        ),
        ("noise: 0.2", "nois: 0.2", "f:4: datasets.moons.nois: unknown key; did you mean"),
        (
            "moons: {generator: two_moons, n_samples: 200, noise: 0.2}",
            "spambas: {}",
            "f:4: datasets.spambas: no data set 'spambas' in the catalogue; did you mean",
        ),
        (
            "[accuracy,",
            "[acuracy,",
            "f:12: metrics: no metric 'acuracy' of classification; did you mean 'accuracy'?",
        ),
        ("baseline: K", "baseline: k", "f:14: derived.speedup.baseline: no method 'k'"),
        (
            "[dataset, method, n_components]",
            "[dataset, methods]",
            "f:15: table.rows: no label 'methods'; did you mean 'method'?",
        ),
        (
            "moons: 10",
            "moon: 10",
            "f:10: methods.H0/1.n_components.by_dataset.moon: no data set 'moon' here; did you mean",  # noqa: E501
        ),
        (
            "{default: 20, moons: 10}",
            "{moons: 10}",
            "f:10: methods.H0/1.n_components: by_dataset gives no value for waveform",
        ),
        (
            "select: [0.1, 10]",
            "select: []",
            "f:8: methods.K.C: select must be a list of values to choose from",
        ),
        ("select: [0.1, 10]", "select: [0.1, -10]", "f:8: methods.K.C: The 'C' parameter of"),
        ("n_components: [10, 40]", "n_components: []", "f:9: methods.RF.n_components: an empty"),
        ("seed: 1,", "seed: 1, train: 0.7, holdout: 0.3,", "f:11: protocol: train and holdout"),
        ("seed: 1,", "seed: 1, folds: published, max_test: 9,", "published folds are taken"),
        (
            "profiles:",
            "best: {metrics: [speedup]}\nprofiles:",
            "f:16: best.metrics: no measured metric 'speedup'",
        ),
        (
            "profiles:",
            "best: {metrics: [accuracy], within: [data]}\nprofiles:",
            "f:16: best.within: no label 'data'; did you mean 'dataset'?",
        ),
        (
            "profiles:",
            "claims: [{says: a, check: {metric: accuracy, better: [RFF], than: [K]}}]\nprofiles:",
            "claims.0.check.better: no method 'RFF'; did you mean 'RF'?",
        ),
        (
            "profiles:",
            "claims: [{says: a, check: {metric: accuracy, better: [RF]}}]\nprofiles:",
            "claims.0.check: better needs than",
        ),
        (
            "profiles:",
            "claims: [{says: a, check: {metric: accuracy, among_best: [RF], over: most, "
            "where: {datset: moons}}}]\nprofiles:",
            "where.datset: no label 'datset'; did you mean",
        ),
    ],
)
def test_each_fault_says_where_what_and_what_is_allowed(small, old, new, message):
    assert any(line.startswith(message) or message in line for line in faults(small, old, new))


def test_all_faults_come_at_once(small):
    text = small.read_text().replace("splits: 2", "splits: 0").replace("KernelSVM", "SVM")
    small.write_text(text.replace("degree: 3", "degree: x"))
    with pytest.raises(ConfigError) as caught:
        load_config(small)
    lines = str(caught.value).splitlines()
    assert len(lines) == 3
    assert all(line.startswith(f"{small}:") for line in lines)


def test_faults_of_settings_name_the_setting(small):
    with pytest.raises(ConfigError, match=r"-o splits=none: protocol.splits: must be a whole"):
        load_config(small, settings=["splits=none"])
    with pytest.raises(ConfigError, match=r"a setting is key=value"):
        load_config(small, settings=["splits"])
    with pytest.raises(ConfigError, match=r"title has no keys to set"):
        load_config(small, settings=["title.x=1"])
    with pytest.raises(ConfigError, match=r"no profile 'quik'; did you mean 'quick'"):
        load_config(small, profile="quik")


@pytest.mark.parametrize(
    "text",
    [
        "- a\n- b\n",
        "3\n",
        "title: x\ndatasets: 3\nmethods: [1]\n",
        "title: {a: 1}\ndatasets: {x: 1}\nmethods: {y: 2}\nonly: z\n",
    ],
)
def test_wrong_shapes_are_config_errors(tmp_path, text):
    path = tmp_path / "odd.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"odd.yaml:\d"):
        load_config(path)


def test_form_faults_and_unknown_names_in_one_section_come_at_once(small):
    text = small.read_text().replace("K: {estimator", "K: {baseline: maybe, estimator")
    text = text.replace("h01: true", "H01: true").replace("n_components]", "n_component]")
    small.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_config(small)
    lines = [line.removeprefix(f"{small}:") for line in str(caught.value).splitlines()]
    assert [line.split(": ")[:2] for line in lines] == [
        ["8", "methods.K.baseline"],
        ["10", "methods.H0/1.H01"],
        ["15", "table.rows"],
    ]


def test_a_config_that_was_checked_before_is_planned_without_scikit_learn(
    small, tmp_path, monkeypatch
):
    monkeypatch.setenv("KERNLEARN_CACHE", str(tmp_path / "cache"))
    code = (
        "import sys\nfrom kernlearn.config import load_config\n"
        "from kernlearn.engine import make_plan\n"
        "make_plan(load_config(sys.argv[1]))\nprint('sklearn' in sys.modules)"
    )
    seen = [
        subprocess.run(
            [sys.executable, "-c", code, str(small)], capture_output=True, text=True, check=True
        ).stdout.strip()
        for _ in range(2)
    ]
    assert seen == ["True", "False"]
    small.write_text(small.read_text().replace("degree: 3", "degree: -3"))
    with pytest.raises(ConfigError, match="degree"):
        load_config(small)
    with pytest.raises(ConfigError, match="degree"):
        load_config(small)


def test_kernels_that_nothing_takes_are_refused(small):
    # what `only` leaves out is left out on purpose
    text = small.read_text()
    small.write_text(text.replace("kernels:\n", "only: [{kernel: polynomial}]\nkernels:\n"))
    load_config(small)
    small.write_text(
        "title: t\ndatasets: [iris]\nkernels: {g: {kernel: gaussian}}\nmetrics: [accuracy]\n"
        "methods: {K: {estimator: KernelSVM, kernel: rbf}, N: {estimator: KNeighborsClassifier}}\n"
    )
    with pytest.raises(ConfigError, match=r"kernels\.g: is not used: no method takes a kernel"):
        load_config(small)


def test_a_choice_by_the_mean_needs_rows_held_out_of_all_splits(small):
    message = r"protocol\.select_by_mean: needs rows that are held out of all splits: give holdout"
    with pytest.raises(ConfigError, match=message):
        load_config(small, settings=["select_by_mean=true"])
    load_config(small, settings=["select_by_mean=true", "holdout=0.1"])
    load_config(small, settings=["select_by_mean=true", "splits=3", "folds=3"])


def test_a_title_names_no_data_that_another_could_replace():
    assert "mq2008" not in load_config("ranking_mq2008").config.title.lower()


REPORTED = "dataset,kernel,method,metric,mean\nmoons,polynomial,K,accuracy,0.9\n"


def test_reported_numbers_may_lie_beside_the_config(small):
    small.write_text(small.read_text() + "reported: mine.csv\n")
    with pytest.raises(ConfigError, match=r"no reported numbers 'mine.csv'"):
        load_config(small)
    (small.parent / "mine.csv").write_text(REPORTED)
    assert load_config(small).config.reported_path == small.parent / "mine.csv"
    # those that come with kernlearn go first
    small.write_text(small.read_text().replace("mine.csv", "table3_1.csv"))
    (small.parent / "table3_1.csv").write_text(REPORTED)
    assert load_config(small).config.reported_path.parent == shipped("reported")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("0.9", "much", "mine.csv:2: mean is not a number"),
        ("0.9", "inf", "mine.csv:2: mean is not a number"),
        ("0.9", "0.9,1", "mine.csv:2: 6 fields under 5"),
        ("kernel", "colour", "mine.csv:1: has the column 'colour'; besides metric, mean and std"),
        ("kernel", "method", "mine.csv:1: has a column twice"),
        (",metric", ",unit", "mine.csv:1: expected the columns dataset, method, metric, mean"),
        ("moons", '"moons', "mine.csv: cannot be read"),
    ],
)
def test_faults_in_reported_numbers_name_the_line(small, old, new, said):
    small.write_text(small.read_text() + "reported: mine.csv\n")
    (small.parent / "mine.csv").write_text(REPORTED.replace(old, new, 1))
    with pytest.raises(ConfigError, match=re.escape(said)):
        load_config(small)


def test_reported_numbers_are_a_name_not_a_path(small, tmp_path):
    (tmp_path / "outside.csv").write_text(REPORTED)
    folder = tmp_path / "inner"
    folder.mkdir()
    config = folder / "small.yaml"
    config.write_text(small.read_text() + "reported: ../outside.csv\n")
    with pytest.raises(ConfigError, match=r"no reported numbers '../outside.csv'"):
        load_config(config)
