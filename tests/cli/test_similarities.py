"""Similarities of libraries by dotted names in configs and on the command line."""

import pytest

CONFIG = """
title: dotted names
task: classification
datasets: [iris]
kernels:
  minkowski: {{kernel: {name}, {parameter}: [1, 2]}}
  turned: {{kernel: scipy.canberra, turn: exponential}}
methods:
  BBS: {{estimator: BBSClassifier, n_landmarks: 20, C: 1}}
  own: {{estimator: BBSClassifier, n_landmarks: 20, C: 1,
        similarity: {{kernel: sklearn.rbf_kernel, gamma: 0.5}}}}
protocol: {{splits: 1, train: 0.5}}
metrics: [accuracy, n_similarities]
"""


@pytest.fixture
def config(tmp_path):
    def write(name="scipy.minkowski", parameter="p"):
        path = tmp_path / "mine.yaml"
        path.write_text(CONFIG.format(name=name, parameter=parameter))
        return path

    return write


def test_a_config_names_them(kernlearn, config):
    done = kernlearn("run", config())
    assert done.returncode == 0, done.stderr
    assert "minkowski (p=1)" in done.stdout
    assert "turned" in done.stdout
    again = kernlearn("run", config())
    assert "0 trials to run, 4 in the store" in again.stdout


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": "scipy.minkowsky"}, "did you mean 'scipy.minkowski'?"),
        ({"name": "grakel.graphlet"}, "grakel.graphlet is refused, because"),
        ({"name": "scipy.chebyshev"}, "scipy.chebyshev has no parameter"),
    ],
)
def test_errors_in_a_config(kernlearn, config, changes, message):
    done = kernlearn("validate", config(**changes))
    assert done.returncode == 2
    assert message in done.stderr


def test_a_library_that_is_not_installed(kernlearn, config, monkeypatch):
    for module in ("plugins", "kernels.registry"):
        monkeypatch.setattr(f"kernlearn.{module}.is_installed", lambda module: module != "aeon")
    done = kernlearn("validate", config("aeon.twe", "nu"))
    assert done.returncode == 2
    assert "aeon.twe is not installed: pip install 'kernlearn[series]'" in done.stderr
    listed = kernlearn("list").stdout
    assert "adtw, ddtw, dtw" in listed
    assert "of series; not installed: pip install 'kernlearn[series]'" in listed
    judged = kernlearn("goodness", "iris", "--similarity", "aeon.twe")
    assert judged.returncode == 2
    assert "needs aeon, which is not installed" in judged.stderr


def test_goodness_of_a_distance(kernlearn):
    done = kernlearn("goodness", "iris", "--similarity", "scipy.canberra")
    assert done.returncode == 0, done.stderr
    assert "Balcan & Blum" in done.stdout
    unknown = kernlearn("goodness", "iris", "--similarity", "scipy.canbera")
    assert unknown.returncode == 2
    assert "did you mean 'scipy.canberra'" in unknown.stderr
    refused = kernlearn("goodness", "iris", "--similarity", "grakel.graphlet")
    assert refused.returncode == 2
    assert "grakel.graphlet is refused, because" in refused.stderr
