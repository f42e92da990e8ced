"""The parts of configs that the pages show are valid, but for files of a reader's own."""

import re

import pytest
import yaml

from kernlearn.config import load_config
from kernlearn.exceptions import ConfigError
from tests.test_readme import README, ROOT, yaml_blocks

PAGES = {
    page.name: blocks
    for page in sorted([README, *(ROOT / "docs").glob("*.md")])
    if (blocks := yaml_blocks(page))
}
del PAGES["encode_a_paper.md"]  # quotes a config: experiments/test_examples.py
#: What a part leaves to the rest of its config.
REST = {
    "title": "Example",
    "datasets": {"moons": {"generator": "two_moons", "n_samples": 100}},
    "methods": {"K": {"estimator": "KernelSVM", "kernel": "rbf"}},
    "metrics": ["accuracy"],
}
#: What only a reader has.
OWN = re.compile(r"no file '[\w.]+' in the config's folder|no reported numbers 'mine_\w+\.csv'")


@pytest.mark.parametrize("page", PAGES)
def test_parts_of_configs_are_valid(page, tmp_path):
    for block in PAGES[page]:
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
