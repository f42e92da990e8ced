"""User-defined methods, kernels, data sets and metrics, from a file or an installed package."""

import re
import textwrap

import pytest

import kernlearn.plugins


def documented(name: str) -> str:
    """A file of the example that the documentation shows."""
    found = re.search(rf"\n    # {name}\n((?:    .*\n|\n)+)", kernlearn.plugins.__doc__)
    return textwrap.dedent(found[1]).strip() + "\n"


@pytest.fixture
def mine(tmp_path):
    for name in ("my_methods.py", "my.yaml"):
        (tmp_path / name).write_text(documented(name))
    return tmp_path / "my.yaml"


def test_the_documented_example_runs_and_its_table_is_shown(kernlearn, mine):
    assert kernlearn("validate", "my.yaml").stdout == "my.yaml: valid\n"
    out = kernlearn("run", "my.yaml")
    assert out.returncode == 0, out.stderr
    assert "my: 36 trials to run, 0 in the store" in out.stdout
    assert "failed" not in out.stdout
    rows = [line.split("│")[1:-1] for line in out.stdout.splitlines() if line.startswith("│")]
    cells = {tuple(text.strip() for text in row[1:4]): row[4:] for row in rows}
    for kernel in ("inverse distance", "gaussian"):
        for n_stripes in ("2", "6", ""):
            for method in ("mine", "K"):
                accuracy, balanced = cells[n_stripes, kernel, method]
                assert 0.4 < float(accuracy.split("±")[0]) <= 1
                assert 0.4 < float(balanced.split("±")[0]) <= 1
    assert "┃ balanced accuracy ┃" in out.stdout
    again = kernlearn("run", "my.yaml", "--jobs", "2")
    assert "my: 0 trials to run, 36 in the store" in again.stdout


def test_processes_beside_this_one_load_the_file_too(kernlearn, mine):
    out = kernlearn("run", "my.yaml", "--timeout", "100", "--splits", "1")
    assert out.returncode == 0, out.stderr
    assert "my: 12 trials to run, 0 in the store" in out.stdout
    assert "failed" not in out.stdout


def test_list_shows_the_names_of_a_config(kernlearn, mine):
    lines = kernlearn("list", "my.yaml").stdout.splitlines()
    marked = [" ".join(line.split()) for line in lines if "(my_methods)" in line]
    assert marked[:3] == [
        "stripes Two classes that alternate along the first of two coordinates. (my_methods)",
        "inverse_distance 1 / (1 + ‖x - y‖ / width). (my_methods)",
        "SimilarityRidge ridge on the similarities to all training points (my_methods)",
    ]
    (metrics,) = marked[3:]
    assert metrics.startswith("classification accuracy,")
    assert metrics.endswith(", balanced_accuracy (my_methods)")
    plain = kernlearn("list")
    assert "my_methods" not in plain.stdout
    assert plain.stderr == ""


def test_faults_are_lines_of_the_config_and_the_file(kernlearn, mine):
    text = mine.read_text()
    wrong = text.replace("alpha:", "alhpa:").replace("width: 0.5", "width: wide")
    mine.write_text(wrong)
    out = kernlearn("validate", "my.yaml")
    assert out.returncode == 2
    assert out.stderr == (
        "kernlearn: my.yaml:7: kernels.inverse distance.width: The 'width' parameter of "
        "inverse_distance must be an instance of 'float'. Got 'wide' instead.\n"
        "my.yaml:10: methods.mine.alhpa: SimilarityRidge has no parameter 'alhpa'; did you mean "
        "'alpha'?\n"
    )
    mine.write_text(text)
    methods = mine.with_name("my_methods.py")
    methods.write_text(methods.read_text() + "\n\nregister_metrics()\n")
    number = methods.read_text().count("\n")
    for command in ("validate", "run", "plan", "list"):
        out = kernlearn(command, "my.yaml")
        assert out.returncode == 2
        assert out.stdout == ""
        assert out.stderr == (
            f"kernlearn: my.yaml:2: plugins.0: my_methods.py:{number}: NameError: name "
            "'register_metrics' is not defined\n"
        )
    trace = kernlearn("--debug", "validate", "my.yaml").stderr
    assert f'my_methods.py", line {number}, in <module>\n' in trace
    assert "    register_metrics()" in trace


def test_two_configs_of_one_run_do_not_see_each_others_names(kernlearn, mine, tmp_path):
    other = mine.read_text().replace("plugins: [my_methods.py]\n", "")
    (tmp_path / "other.yaml").write_text(other)
    out = kernlearn("run", "my.yaml", "other.yaml")
    assert out.returncode == 2
    first, *rest = out.stderr.splitlines()
    lines = [first.removeprefix("kernlearn: "), *rest]
    assert all(line.startswith("other.yaml:") for line in lines)


@pytest.fixture
def package(tmp_path):
    """A function that puts a package where Python finds it, as an installer would."""
    site = tmp_path / "site"

    def install(name: str, code: str, named: str = "") -> dict[str, str]:
        (site / name).mkdir(parents=True)
        (site / name / "__init__.py").touch()
        (site / name / "methods.py").write_text(code)
        info = site / f"{name}-1.5.dist-info"
        info.mkdir()
        title = name.replace("_", "-")
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {title}\nVersion: 1.5\n")
        target = f"{name}.methods{named}"
        (info / "entry_points.txt").write_text(f"[kernlearn.plugins]\nmethods = {target}\n")
        return {"PYTHONPATH": str(site)}

    return install


KERNEL = """\
from kernlearn.plugins import register_kernel, register_dataset

@register_kernel(summary="the bend of two points")
def bent(X, Y, bend=1.0):
    return (X @ Y.T) * bend
"""

USER = """\
title: t
datasets: {moons: {generator: two_moons, n_samples: 60}}
kernels: {bent: {kernel: bent, bend: 2}}
methods: {K: {estimator: KernelSVM, C: 1}}
metrics: [accuracy]
protocol: {splits: 1}
"""


def test_an_installed_package_is_there_for_every_config(kernlearn, package, tmp_path):
    where = package("bends", KERNEL)
    (tmp_path / "user.yaml").write_text(USER)
    assert "no kernel 'bent'" in kernlearn("validate", "user.yaml").stderr
    listed = kernlearn("list", **where)
    assert re.search(r"\n  bent +the bend of two points \(bends\)\n", listed.stdout)
    assert listed.stderr == ""
    out = kernlearn("run", "user.yaml", **where)
    assert out.returncode == 0, out.stderr
    wrong = USER.replace("bend:", "bent:")
    (tmp_path / "user.yaml").write_text(wrong)
    fault = kernlearn("validate", "user.yaml", **where).stderr
    assert "user.yaml:3: kernels.bent.bent: bent has no parameter 'bent'; did you mean" in fault
    assert "'bend'?" in fault


def test_a_package_can_name_a_function_that_registers(kernlearn, package):
    code = f"def register():\n{textwrap.indent(KERNEL, '    ')}"
    where = package("bent_ones", code, ":register")
    assert "the bend of two points (bent-ones)" in kernlearn("list", **where).stdout


def test_a_configs_own_file_stands_before_a_package(kernlearn, package, tmp_path):
    where = package("bends", KERNEL)
    (tmp_path / "mine.py").write_text(KERNEL.replace("the bend", "my bend"))
    (tmp_path / "user.yaml").write_text(USER + "plugins: [mine.py]\n")
    listed = kernlearn("list", "user.yaml", **where).stdout
    assert "my bend of two points (mine)" in listed
    assert "(bends)" not in listed
    assert kernlearn("run", "user.yaml", **where).returncode == 0


@pytest.mark.parametrize(
    ("code", "named", "message"),
    [
        ("import no_such_library", "", "ModuleNotFoundError: No module named 'no_such_library'"),
        ("x = 1", "", "registers nothing; `kernlearn.plugins` says how"),
        ("x = 1", ":gone", "AttributeError: module 'bends.methods' has no attribute 'gone'"),
        ("raise SystemExit('bye')", "", "SystemExit: bye"),
        (
            KERNEL.replace("bent(", "linear("),
            "",
            "the name 'linear' is taken: kernlearn has a kernel of that name",
        ),
    ],
)
def test_a_broken_package_harms_only_who_may_need_it(
    kernlearn, package, tmp_path, code, named, message
):
    where = package("bends", code, named)
    listed = kernlearn("list", **where)
    assert listed.returncode == 0
    start = "the installed plug-in bends cannot be loaded: bends.methods"
    assert listed.stderr.startswith(f"kernlearn: {start}")
    assert message in listed.stderr
    (tmp_path / "user.yaml").write_text(USER)
    out = kernlearn("validate", "user.yaml", **where)
    assert out.returncode == 2
    assert out.stderr.startswith("kernlearn: user.yaml:3: kernels.bent.kernel: no kernel 'bent'")
    assert start in out.stderr
    assert len(out.stderr.splitlines()) == 1
    plain = USER.replace("kernel: bent, bend: 2", "kernel: linear")
    (tmp_path / "user.yaml").write_text(plain)
    fine = kernlearn("validate", "user.yaml", **where)
    assert (fine.returncode, fine.stderr) == (0, "")


def test_of_two_packages_with_one_name_the_second_is_told(kernlearn, package):
    package("bends", KERNEL)
    where = package("curves", KERNEL)
    listed = kernlearn("list", **where)
    assert "(bends)" in listed.stdout
    assert "(curves)" not in listed.stdout
    assert "curves cannot be loaded: curves.methods:3: the name 'bent' is taken: bends" in (
        listed.stderr
    )


def test_help_loads_no_package(kernlearn, package, tmp_path):
    where = package("bends", "import pathlib\npathlib.Path('loaded').touch()\n" + KERNEL)
    assert kernlearn("--help", **where).returncode == 0
    assert not (tmp_path / "loaded").exists()
    kernlearn("list", **where)
    assert (tmp_path / "loaded").exists()
