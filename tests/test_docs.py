"""The pages: commands and links exist; with `make docs`, examples run and numbers are measured."""

import doctest
import re
import shlex
import sys
from pathlib import Path

import pytest
import yaml
from typer.main import get_command

from kernlearn.cli.app import app
from kernlearn.config import find_config, load_config
from kernlearn.datasets import catalogue
from kernlearn.exceptions import ConfigError
from tests.command import kernlearn  # noqa: F401

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS))
from marked_numbers import PAGES, rewritten  # noqa: E402

README = ROOT / "README.md"
ALL = [*PAGES, ROOT / "CONTRIBUTING.md"]
#: What some examples need beside kernlearn.
LIBRARIES = ("river", "grakel", "aeon")
#: What a part of a config leaves to the rest of it.
REST = {
    "title": "Example",
    "datasets": {"moons": {"generator": "two_moons", "n_samples": 100}},
    "methods": {"K": {"estimator": "KernelSVM", "kernel": "rbf"}},
    "metrics": ["accuracy"],
}
#: What only a reader has.
OWN = re.compile(r"no file '[\w.]+' in the config's folder|no reported numbers 'mine_\w+\.csv'")
OF_A_TUTORIAL = ("names.yaml", "landmarks.yaml")
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
PARTS = re.DOTALL | re.MULTILINE
of_page = pytest.mark.parametrize("page", ALL, ids=lambda page: page.name)


def read(page):
    return page.read_text(encoding="utf-8")


def blocks(page, language):
    return re.findall(rf"^ *```{language}\n(.*?)^ *```", read(page), re.DOTALL | re.MULTILINE)


def need(text):
    for library in LIBRARIES:
        if re.search(rf"(import|from) {library}\b|{library}\.", text):
            pytest.importorskip(library)


def commands(page):
    """Yield the words of each command on a page, without ``kernlearn``."""
    lines = [line for block in blocks(page, "(?:sh|console)") for line in block.splitlines()]
    lines += re.findall(r"^    (kernlearn .*)$", read(page), re.MULTILINE)
    lines += re.findall(r"`(kernlearn [a-z][^`\n]*)`", read(page))
    for line in lines:
        words = shlex.split(line.removeprefix("$ "), comments=True)
        if words[:1] == ["kernlearn"]:
            yield words[1:]


def alike(checker, shown, printed, options, exactly=doctest.OutputChecker.check_output):
    """Compare outputs by the first decimal: where solvers stop depends on the processor."""
    shown, printed = (re.sub(r"(\d\.\d)\d+", r"\1", one) for one in (shown, printed))
    return exactly(checker, shown, printed, options)


@pytest.mark.docs
@of_page
def test_examples_run(page, tmp_path, monkeypatch, kernlearn):  # noqa: F811
    monkeypatch.setattr(doctest.OutputChecker, "check_output", alike)
    text = read(page)
    need(text)
    monkeypatch.chdir(tmp_path)
    if ">>> " in text:
        failures, _ = doctest.testfile(
            str(page), module_relative=False, encoding="utf-8", optionflags=OPTIONS
        )
        assert failures == 0
    for block in blocks(page, "python"):
        if ">>> " not in block and "@register" not in block:
            exec(compile(block, page.name, "exec"), {})
    for block, name in re.findall(r"^```yaml\n(# (\S+\.yaml)\n.*?)^```", text, PARTS):
        Path(name).write_text(block)
    for block, shown in re.findall(r"^```console\n(.*?)^```\n\n```text\n(.*?)^```", text, PARTS):
        words = [shlex.split(line)[2:] for line in block.splitlines()]
        printed = "".join(kernlearn(*of_line, COLUMNS="76").stdout for of_line in words)
        shown, printed = (re.sub(r"\d[\d.]*", "#", one) for one in (shown, printed))
        assert doctest.OutputChecker().check_output(shown, printed, OPTIONS), printed


@of_page
def test_commands_exist_with_their_options(page):
    for words in commands(page):
        command, names = get_command(app), list(words)
        while getattr(command, "commands", None) and names and not names[0].startswith("-"):
            assert names[0] in command.commands, words
            command = command.commands[names.pop(0)]
        known = {one for p in command.params for one in (*p.opts, *p.secondary_opts)}
        used = {word.partition("=")[0] for word in names if re.match(r"--?[a-zA-Z]", word)}
        assert used <= known | {"--help"}, words
        if command.name in ("run", "plan", "report"):
            for name in names[: [*(w[0] == "-" for w in names), True].index(True)]:
                own = name in OF_A_TUTORIAL or "mine" in name
                assert own or find_config(name).is_file() or name in catalogue(), words


@of_page
def test_parts_of_configs_are_valid(page, tmp_path):
    if page.stem == "encode_a_paper":  # quotes parts of configs/examples
        return
    for block in blocks(page, "yaml"):
        part = yaml.safe_load(block)
        config = REST | part
        if "kernels" in part and "methods" not in part:
            config["methods"] = {"K": {"estimator": "BBSClassifier"}}
        (tmp_path / "part.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
        faults = []
        try:
            load_config(tmp_path / "part.yaml")
        except ConfigError as error:
            faults = [line for line in str(error).splitlines() if not OWN.search(line)]
        assert faults == [], block


@pytest.mark.docs
def test_numbers_are_the_measured_ones():
    for page in PAGES:
        assert not re.search(r"\S<!--", read(page)), f"{page}: a comment inside a sentence"
        again = rewritten(read(page)).splitlines()
        for line, measured in zip(read(page).splitlines(), again, strict=True):
            assert line == measured, f"{page}: python docs/marked_numbers.py"


@of_page
def test_links_and_paths_lead_somewhere(page):
    """Within the site `make docs` checks the places of pages too."""
    text = read(page)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        path = target.partition("#")[0]
        assert ":" in path or (page.parent / path).exists(), target
    folders = "kernlearn|tests|configs|benchmarks|docs|datasets|results"
    paths = re.findall(rf"`((?:{folders})/[^`\s]*)`", text)
    paths += [name.replace(".", "/") for name in re.findall(r"-m (tests(?:\.\w+)+)`", text)]
    for path in paths:
        if not re.search(r"[<{*…]|^results/runs", path):
            there = ROOT / path.partition("::")[0].removesuffix("/")
            assert there.exists() or there.with_name(f"{there.name}.py").exists(), path


def test_the_readme_s_own_experiment_runs(tmp_path, kernlearn):  # noqa: F811
    (block,) = blocks(README, "yaml")
    (tmp_path / "mine.yaml").write_text(block)
    rows = [f"{i % 5},{i % 3},{'a' if i % 5 > 2 else 'b'}" for i in range(60)]
    (tmp_path / "mine.csv").write_text("\n".join(["x,z,label", *rows]) + "\n")
    kernlearn("run", "mine.yaml")
    kernlearn("init", "mine.csv", "--config", "more.yaml")
