"""``kernlearn datasets``."""

import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.cli.test_session import HEAVY

ROWS = "".join(f"{i},{i % 3},{'ab'[i % 2]}\n" for i in range(40))


@pytest.fixture
def server():
    """A publisher of /good.csv and nothing else."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            body = ROWS.encode() if self.path == "/good.csv" else b""
            self.send_response(200 if body else 404)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as served:
        thread = threading.Thread(target=served.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{served.server_port}"
        served.shutdown()
        thread.join()


def said(ended):
    """The lines of the output; before version 14.3 Rich ends a display with an empty one."""
    return [line for line in ended.stdout.splitlines() if line]


@pytest.fixture
def own_card(tmp_path, kernlearn):
    """Write a card by the command, and let its data be published at an address."""

    def write(name, address):
        (tmp_path / f"{name}.csv").write_text(ROWS)
        out = kernlearn("datasets", "add", f"{name}.csv", "--name", name, "--folder", "cards")
        assert out.returncode == 0, out.stderr
        (tmp_path / f"{name}.csv").unlink()
        (tmp_path / "cards" / name / f"{name}.csv").unlink()
        card = tmp_path / "cards" / f"{name}.yaml"
        downloads = f"source:\n  downloads: {{{name}.csv: {address}}}\n"
        card.write_text(card.read_text().replace("source:\n", downloads))
        return card

    return write


@pytest.mark.parametrize(
    ("words", "heavy"),
    [
        ([], HEAVY),
        # typer reads the options of a subcommand by way of pydantic
        (["datasets"], [m for m in HEAVY if m != "pydantic"]),
        (["datasets", "fetch"], [m for m in HEAVY if m != "pydantic"]),
    ],
)
def test_help_loads_nothing_heavy(words, heavy):
    code = (
        "import sys, kernlearn.cli.app, typer.testing\n"
        f"out = typer.testing.CliRunner().invoke(kernlearn.cli.app.app, {[*words, '--help']})\n"
        "assert out.exit_code == 0 and 'atasets' in out.output\n"
        f"print([m for m in {[*heavy, 'pooch', 'requests']} if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_list(kernlearn, tmp_path):
    lines = kernlearn("datasets", "list").stdout.splitlines()
    (iris,) = (line.split() for line in lines if line.split()[:1] == ["iris"])
    assert iris == ["iris", "classification", "150", "x", "4", "3", "scikit-learn"]
    missing = kernlearn("datasets", "list", "--missing", "--task", "classification").stdout
    assert "nursery" in missing
    assert "iris" not in missing
    (tmp_path / "datasets").mkdir()
    (tmp_path / "datasets" / "nursery.data").write_text("x")
    assert "nursery " not in kernlearn("datasets", "list", "--missing").stdout
    regression = kernlearn("datasets", "list", "--task", "regression").stdout
    assert "diabetes_sklearn" in regression
    assert "iris" not in regression
    wrong = kernlearn("datasets", "list", "--task", "regress")
    assert wrong.returncode == 2
    assert wrong.stderr.startswith("kernlearn: --task regress: expected one of classification, ")


def test_info(kernlearn):
    out = kernlearn("datasets", "info", "iris").stdout
    for words in (
        "licence    CC BY 4.0",
        "Differs in two rows",
        "versicolor   50     33.3 %",
        "petal width (cm)",
        "virginica ▏",
        "first principal component",
    ):
        assert words in out
    missing = kernlearn("datasets", "info", "nursery")
    assert missing.returncode == 0
    assert "fetch it with: kernlearn datasets fetch nursery" in missing.stdout
    unaddressed = kernlearn("datasets", "info", "mq2008")
    assert "fetch it with" not in unaddressed.stdout
    assert "found      no; get it from " in unaddressed.stdout


@pytest.mark.parametrize("command", ["info", "fetch", "verify"])
def test_a_typo_is_one_line_and_exit_code_2(kernlearn, command):
    out = kernlearn("datasets", command, "nurserey")
    assert out.returncode == 2
    assert out.stderr == ("kernlearn: no data set is called 'nurserey'; did you mean nursery?\n")


def test_add_fetch_verify_and_info_of_a_user(kernlearn, server, own_card, tmp_path):
    card = own_card("good", f"{server}/good.csv")
    fetched = kernlearn("datasets", "fetch", card, "iris")
    assert fetched.returncode == 0, fetched.stderr
    lines = fetched.stdout.splitlines()
    assert lines[0] == "[1/2] good: fetched 270 bytes; the content is that of the card"
    assert lines[1] == "[2/2] iris: needs no file; comes with scikit-learn"
    assert fetched.stderr == ""
    file = tmp_path / "cache" / "datasets" / "good" / "good.csv"
    assert file.read_text() == ROWS
    again = kernlearn("datasets", "fetch", card)
    assert said(again) == ["[1/1] good: available already"]

    verified = kernlearn("datasets", "verify", card, "iris")
    assert verified.returncode == 0
    assert verified.stdout.splitlines() == ["ok       good", "ok       iris"]
    assert "column" in kernlearn("datasets", "info", card).stdout

    file.write_text(ROWS.replace("1,1,b", "1,2,b"))
    differs = kernlearn("datasets", "verify", card)
    assert differs.returncode == 1
    assert differs.stdout.startswith("differs  good: the content's fingerprint is ")
    file.write_text("1,2\n")
    damaged = kernlearn("datasets", "verify", card)
    assert damaged.returncode == 1
    assert damaged.stdout.startswith("damaged  good: ")


def test_fetch_goes_on_and_tells_all_failures_at_the_end(kernlearn, server, own_card, tmp_path):
    lost, good = own_card("lost", f"{server}/lost.csv"), own_card("good", f"{server}/good.csv")
    out = kernlearn("datasets", "fetch", lost, good, "--into", "mine")
    assert out.returncode == 2
    assert out.stdout.splitlines()[0] == "[1/2] lost: FAILED"
    assert out.stdout.splitlines()[1].startswith("[2/2] good: fetched")
    assert out.stderr.startswith(
        f"kernlearn: lost: lost.csv: {server}/lost.csv: the server answer"
    )
    assert "put the file into mine/lost by hand" in out.stderr
    assert "Traceback" not in out.stderr
    assert (tmp_path / "mine" / "good" / "good.csv").is_file()


def test_fetch_for_a_config(kernlearn):
    out = kernlearn("datasets", "fetch", "--for", "quickstart")
    assert out.returncode == 0, out.stderr
    assert said(out) == [
        "[1/2] digits: needs no file; comes with scikit-learn",
        "[2/2] breast_cancer_wdbc: needs no file; comes with scikit-learn",
    ]
    assert kernlearn("datasets", "fetch", "--for", "nonesuch").returncode == 2
    nothing = kernlearn("datasets", "fetch")
    assert nothing.returncode == 2
    assert "give names, --for CONFIG or --all" in nothing.stderr


def test_verify_of_a_named_data_set_that_is_missing(kernlearn):
    out = kernlearn("datasets", "verify", "nursery")
    assert out.returncode == 1
    assert out.stdout == "missing  nursery: nursery.data\n"
    everything = kernlearn("datasets", "verify")
    assert everything.returncode == 0
    assert "missing  nursery" in everything.stdout


def test_add_says_what_it_guessed_and_overwrites_nothing(kernlearn, tmp_path):
    (tmp_path / "mine.csv").write_text("size;colour;kind\n" + ROWS.replace(",", ";"))
    out = kernlearn("datasets", "add", "mine.csv", "--name", "mine", "--target", "size")
    assert out.returncode == 0, out.stderr
    assert "- columns separated by ';'" in out.stdout
    assert "- column kind is nominal: a, b" in out.stdout
    assert "- the task is regression" in out.stdout
    assert "Card: datasets/mine.yaml" in out.stdout
    again = kernlearn("datasets", "add", "mine.csv", "--name", "mine")
    assert again.returncode == 2
    assert again.stderr.startswith("kernlearn: datasets/mine.yaml: the card exists already")


def test_user_data_is_listed_and_verified_like_any_other(kernlearn, tmp_path):
    (tmp_path / "mine.csv").write_text("size,colour,kind\n" + ROWS)
    assert kernlearn("datasets", "add", "mine.csv", "--name", "mine").returncode == 0
    listed = kernlearn("datasets", "list").stdout.splitlines()
    assert any(line.split()[:2] == ["mine", "classification"] for line in listed)
    assert "ok       mine" in kernlearn("datasets", "verify").stdout
    (tmp_path / "mine.csv").write_text("size,colour,kind\n" + ROWS.replace("1,1,b", "9,1,b", 1))
    differs = kernlearn("datasets", "verify")
    assert differs.returncode == 1
    assert "differs  mine" in differs.stdout


def test_a_config_names_a_user_card_wherever_data_is_looked_for(kernlearn, tmp_path):
    (tmp_path / "mine.csv").write_text("size,colour,kind\n" + ROWS)
    added = kernlearn("datasets", "add", "mine.csv", "--name", "mine", "--folder", "far")
    assert added.returncode == 0
    (tmp_path / "c.yaml").write_text(
        "title: t\ndatasets: [mine]\nmethods: {D: {estimator: DummyClassifier}}\n"
        "metrics: [accuracy]\n"
    )
    assert kernlearn("plan", "c.yaml").returncode == 2
    assert kernlearn("plan", "c.yaml", "--data-dir", "far").returncode == 0
    (tmp_path / "far").rename(tmp_path / "datasets")
    fetched = kernlearn("datasets", "fetch", "--for", "c.yaml")
    assert fetched.returncode == 0, fetched.stderr


def test_info_of_data_that_is_gone(kernlearn, tmp_path):
    (tmp_path / "f.csv").write_text("a,b\n" + "1.5,x\n2.5,y\n" * 9)
    assert kernlearn("datasets", "add", "f.csv", "--name", "mine").returncode == 0
    (tmp_path / "f.csv").unlink()
    gone = kernlearn("datasets", "info", "mine")
    assert "found      no; f.csv is not where the card is, nor in --data-dir" in gone.stdout
