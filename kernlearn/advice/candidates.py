"""The shortlist of methods: entries of a config, with grids of the same size."""

import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from kernlearn.experiments.config.entries import unfold
from kernlearn.experiments.config.methods import MethodEntry

#: The number of settings of every candidate.
GRID_SIZE = 6

# Columns that exact linear features may take; random ones are at least as many.
_MOST_EXACT = 1000
_COLUMNS = 500
# Cells of a sparse matrix that is made dense: 400 MB.
_MOST_CELLS = 50_000_000
# Rows whose kernel matrix fits into memory, and rows up to which LIBSVM ends in hours.
_MOST_KERNEL_MATRIX = 15_000
_MOST_KERNEL_SVM = 100_000


class Facts(NamedTuple):
    """What the shortlist depends on.

    Attributes
    ----------
    classification : bool
    n_rows : int
        Rows to train on at full size.
    n_features : int
    sparse : bool
    width : float
        The root of the mean squared distance of two scaled points.

    Examples
    --------
    >>> from kernlearn.advice import Facts, shortlist
    >>> few = Facts(classification=True, n_rows=1000, n_features=8, sparse=False, width=4.0)
    >>> many = few._replace(n_rows=1_000_000)
    >>> [[c.name for c in shortlist(facts) if c.left_out] for facts in (few, many)]
    [[], ['kernel SVM']]
    """

    classification: bool
    n_rows: int
    n_features: int
    sparse: bool
    width: float


@dataclass(frozen=True, eq=False)
class Candidate:
    """A method of the shortlist.

    Attributes
    ----------
    name : str
        Its label in tables and configs.
    entry : dict
        Its entry in a config, with the grid under ``select``.
    strength : str
        The parameter, with the label of its step, of which a config offers the neighbours too.
    left_out : str
        Why it is not measured; empty if it is.
    linear : bool
        Whether it is the linear method of a config.

    Examples
    --------
    >>> from kernlearn.advice import Facts, shortlist
    >>> facts = Facts(classification=True, n_rows=1000, n_features=8, sparse=False, width=4.0)
    >>> first = shortlist(facts)[0]
    >>> first.name, first.strength, len(first.settings)
    ('linear SVM', 'C', 6)
    """

    name: str
    entry: Mapping[str, Any]
    strength: str
    left_out: str = ""
    linear: bool = False

    @cached_property
    def method(self) -> MethodEntry:
        """The entry as a config has it."""
        return MethodEntry.model_validate(copy.deepcopy(dict(self.entry)))

    @cached_property
    def fixed(self) -> dict[str, Any]:
        """The parameters that are not chosen, those of a step after its label."""
        return unfold(self.method.parameters)[0][0]

    @cached_property
    def grid(self) -> dict[str, list[Any]]:
        """The values of the parameters that are chosen, ascending or in their natural order."""
        return unfold(self.method.parameters)[0][1]

    @cached_property
    def settings(self) -> list[dict[str, Any]]:
        """All points of the grid."""
        from sklearn.model_selection import ParameterGrid

        return list(ParameterGrid(self.grid))

    def entry_with(self, settings: Mapping[str, Any], *, around: bool) -> dict[str, Any]:
        """Return the entry with the parameters at given values.

        With ``around`` the one that `strength` names keeps the values beside the given one in
        the grid, to be selected.
        """
        entry: dict[str, Any] = copy.deepcopy(dict(self.entry))
        places = entry.get("steps", [entry])
        for (label, _), place in zip(self.method.labelled_steps, places, strict=True):
            for key in list(place) if isinstance(place, dict) else ():
                name = f"{label}__{key}" if label else key
                if name not in settings:
                    continue
                owner, _, nested = key.partition("__")
                if nested:  # of a kernel
                    place[owner][nested] = settings[name]
                    del place[key]
                else:
                    selects = around and name == self.strength
                    place[key] = self._near(name, settings[name]) if selects else settings[name]
        return entry

    def _near(self, name: str, value: Any) -> dict[str, list[Any]]:
        """Return a value and those beside it in the grid, to be selected."""
        values = self.grid[name]
        i = values.index(value)
        return _select(*values[max(i - 1, 0) : i + 2])


def shortlist(facts: Facts) -> list[Candidate]:
    """Return all candidates of a task, also those that do not apply, with the reason.

    Parameters
    ----------
    facts : Facts

    Returns
    -------
    list of Candidate
        Each has as many settings.

    Examples
    --------
    >>> from kernlearn.advice import Facts, shortlist
    >>> facts = Facts(classification=False, n_rows=40_000, n_features=8, sparse=False, width=4.0)
    >>> {c.name: c.left_out for c in shortlist(facts) if c.left_out}
    {'kernel ridge': 'its kernel matrix has 40000 rows, at most 15000 are held in memory'}
    """
    make: Callable[[Facts], Iterator[Candidate]]
    make = _classifiers if facts.classification else _regressors
    return list(make(facts))


def _select(*values: Any) -> dict[str, list[Any]]:
    return {"select": list(values)}


def _plain(number: float) -> float:
    """Round to three digits, as a user would write it."""
    return float(f"{number:.3g}")


def _gaussian(widths: tuple[float, float], name: str = "kernel") -> dict[str, Any]:
    """Return a Gaussian kernel of which the width is chosen."""
    widths = (_plain(widths[0]), _plain(widths[1]))
    return {name: {"kernel": "gaussian", "sigma": widths[0]}, f"{name}__sigma": _select(*widths)}


def _gammas(widths: tuple[float, float]) -> dict[str, list[Any]]:
    """Return the factors of LIBSVM's Gaussian kernel for two widths, the widest kernel first."""
    return _select(*sorted(_plain(0.5 / width**2) for width in widths))


def _nystroem(widths: tuple[float, float]) -> dict[str, Any]:
    """Return the step of Nyström features of a Gaussian kernel."""
    embedding = {"estimator": "NystroemEmbedding", **_gaussian(widths)}
    return {**embedding, "n_components": 300, "selection": "rpcholesky"}


def _too_long(n_rows: int) -> str:
    """Return why LIBSVM is not taken for so many rows, if it is not."""
    slow = f"{n_rows} rows, and LIBSVM is taken for at most {_MOST_KERNEL_SVM}"
    return slow if n_rows > _MOST_KERNEL_SVM else ""


def _dense_only(facts: Facts, entry: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Return the entry of a method that takes no sparse data, and why it is left out."""
    if not facts.sparse:
        return entry, ""
    cells = facts.n_rows * facts.n_features
    too_many = f"it takes dense data only, here {cells} cells, at most {_MOST_CELLS} are made"
    return {**entry, "dense": True}, too_many if cells > _MOST_CELLS else ""


def _classifiers(facts: Facts) -> Iterator[Candidate]:
    narrow, wide = (facts.width / 4, facts.width / 2), (facts.width / 2, facts.width)
    weights = _select(0.001, 0.01, 0.1, 1, 10, 100)
    three = _select(1, 10, 100)
    yield Candidate("linear SVM", {"estimator": "LinearSVM", "C": weights}, "C", linear=True)
    yield Candidate(
        "logistic regression",
        {"estimator": "LogisticRegression", "max_iter": 500, "C": weights},
        "C",
    )
    d = facts.n_features
    columns = max(_COLUMNS, 2 * d + 2)
    too_wide = f"{d} features, and at most {_MOST_EXACT} exact columns are made"
    unit = "sklearn.preprocessing.Normalizer"
    exact = {"h01": True, "include_exact": True, "n_components": columns}
    polynomial = {
        "estimator": "MaclaurinSVM",
        "kernel": {"kernel": "polynomial", "degree": 2},
        "kernel__degree": _select(2, 4),
        **exact,
        "C": three,
    }
    exponential = {
        "estimator": "MaclaurinSVM",
        "kernel": {"kernel": "exponential", "sigma": 0.5},
        "kernel__sigma": _select(0.5, 1.0),
        **exact,
        "measure": "variance",
        "complex_to_real": True,
        "C": three,
    }
    for name, step in (("Maclaurin H0/1", polynomial), ("Maclaurin variance", exponential)):
        yield Candidate(
            name,
            {"steps": [unit, step]},
            "maclaurinsvm__C",
            left_out=too_wide if d > _MOST_EXACT else "",
        )
    nystroem = _nystroem(narrow)
    yield Candidate(
        "Nystroem SVM",
        {"steps": [nystroem, {"estimator": "LinearSVM", "C": three}]},
        "linearsvm__C",
    )
    yield Candidate(
        "BBS",
        {
            "estimator": "BBSClassifier",
            "n_landmarks": 300,
            **_gaussian(wide, "similarity"),
            "C": _select(10, 100, 1000),
        },
        "C",
    )
    yield Candidate(
        "FTUNE",
        {
            "estimator": "FTuneClassifier",
            **_gaussian(wide, "similarity"),
            "n_landmarks": _select(50, 100, 200),
        },
        "n_landmarks",
    )
    yield Candidate(
        "kernel SVM",
        {"estimator": "KernelSVM", "kernel": "rbf", "gamma": _gammas(narrow), "C": three},
        "C",
        left_out=_too_long(facts.n_rows),
    )
    yield from _trees_and_neighbours(facts, "Classifier")


def _regressors(facts: Facts) -> Iterator[Candidate]:
    widths = (facts.width / 2, facts.width)
    penalties = _select(0.01, 0.1, 1)
    yield Candidate(
        "ridge",
        {"estimator": "Ridge", "alpha": _select(0.1, 1, 10, 100, 1000, 10000)},
        "alpha",
        linear=True,
    )
    yield Candidate(
        "RegLand",
        {
            "estimator": "RegLand",
            "n_landmarks": 300,
            **_gaussian(widths, "similarity"),
            "C": _select(10, 100, 1000),
        },
        "C",
    )
    nystroem = _nystroem(widths)
    yield Candidate(
        "Nystroem ridge",
        {"steps": [nystroem, {"estimator": "Ridge", "alpha": penalties}]},
        "ridge__alpha",
    )
    rows = facts.n_rows
    matrix = f"its kernel matrix has {rows} rows, at most {_MOST_KERNEL_MATRIX} are held in memory"
    gammas = _gammas(widths)
    yield Candidate(
        "SVR",
        {"estimator": "SVR", "kernel": "rbf", "gamma": gammas, "C": _select(0.1, 1, 10)},
        "C",
        left_out=_too_long(rows),
    )
    yield Candidate(
        "kernel ridge",
        {"estimator": "KernelRidge", "kernel": "rbf", "gamma": gammas, "alpha": penalties},
        "alpha",
        left_out=matrix if rows > _MOST_KERNEL_MATRIX else "",
    )
    yield from _trees_and_neighbours(facts, "Regressor")


def _trees_and_neighbours(facts: Facts, kind: str) -> Iterator[Candidate]:
    """Yield the candidates that both tasks have, as a "Classifier" or a "Regressor"."""
    boosting, reason = _dense_only(
        facts,
        {
            "estimator": f"sklearn.ensemble.HistGradientBoosting{kind}",
            "learning_rate": _select(0.05, 0.1, 0.2),
            "max_leaf_nodes": _select(8, 31),
        },
    )
    yield Candidate("gradient boosting", boosting, "learning_rate", left_out=reason)
    shares = _select("sqrt", 0.2, 0.5) if kind == "Classifier" else _select(0.2, 0.5, 1.0)
    yield Candidate(
        "random forest",
        {
            "estimator": f"sklearn.ensemble.RandomForest{kind}",
            "n_estimators": 200,
            "max_features": shares,
            "min_samples_leaf": _select(1, 4),
        },
        "max_features",
    )
    yield Candidate(
        "nearest neighbours",
        {
            "estimator": f"sklearn.neighbors.KNeighbors{kind}",
            "n_neighbors": _select(1, 3, 5, 9, 15, 25),
        },
        "n_neighbors",
    )
