"""False alarms, coverage and power of the test of two methods on a data set, by simulation.

``python -m benchmarks.comparisons --tables 900`` draws data sets with three methods, each by least
squares on ten features; those of the third are better. For each metric, share of training rows
and number of splits it prints, in per cent at level 5, how often the first two, which are equal,
are called different; how often the interval of a difference has the true one; and how often the
third is called better. In brackets stand those of the corrected resampled t-test.

The tests are those of reports (:mod:`kernlearn.reports.statistics`).
"""

from argparse import ArgumentParser
from itertools import combinations, product

import numpy as np
import pandas as pd

from kernlearn.engine.losses import values_of
from kernlearn.reports.covariances import EXCESS
from kernlearn.reports.statistics import resampled

METRICS = ("accuracy", "mse", "auc", "ndcg")
SHARES = (0.7, 0.6, 0.5, 0.14)
SPLITS = (5, 10, 20)
_METHODS, _FEATURES, _OF_QUERY = 3, 10, 8
_NOISE = 6 * (_METHODS / 2) ** 0.5


def simulate(metric, share, n_rows, rng):
    """Return means and covariances over test rows, by split, and the number of units."""
    n_units = n_rows // 2 if metric == "ndcg" else n_rows
    n_rows = n_units * _OF_QUERY if metric == "ndcg" else n_rows
    X = rng.normal(size=(n_rows, _METHODS, _FEATURES))
    better = 1 + 0.5 * (400 / n_rows) ** 0.5 * (np.arange(_METHODS) == _METHODS - 1)
    y = X.sum(axis=2) @ better + rng.normal(0, _NOISE, n_rows)
    unit, target = np.arange(n_rows), y / _NOISE
    if metric in ("accuracy", "auc"):
        target = (y > 0).astype(float)
    elif metric == "ndcg":
        unit = np.repeat(np.arange(n_units), _OF_QUERY)
        target = np.digitize(y, np.quantile(y, [0.6, 0.85])).astype(float)
    centre = target.mean()
    means = np.empty((max(SPLITS), _METHODS))
    covariances = np.empty((max(SPLITS), _METHODS, _METHODS))
    for split in range(max(SPLITS)):
        is_training = np.isin(unit, rng.permutation(n_units)[: round(share * n_units)])
        values = []
        for method in range(_METHODS):
            Z = X[:, method]
            w = np.linalg.lstsq(Z[is_training], target[is_training] - centre)[0]
            scores = Z[~is_training] @ w
            predicted = (scores > 0).astype(float) if metric == "accuracy" else scores + centre
            query = unit[~is_training] if metric == "ndcg" else None
            values.append(values_of(metric, target[~is_training], predicted, query))
        means[split] = np.mean(values, axis=1)
        covariances[split] = np.cov(np.array(values, dtype=float))
    return means, covariances, n_units


def rates(tables, n_splits, ratio, excess=1.0, level=0.05):
    """Return false alarms, coverage and power of both tests, in per cent."""
    found = []
    for one, other in combinations(range(_METHODS), 2):
        truth = np.mean([means[:, one] - means[:, other] for means, *_ in tables])
        truth = 0.0 if other < _METHODS - 1 else truth
        for means, covariances, n_units in tables:
            values = pd.Series(means[:n_splits, one] - means[:n_splits, other])
            c = covariances[:n_splits].mean(axis=0)
            of_rows = excess * (c[one, one] + c[other, other] - 2 * c[one, other]) / n_units
            values.loc[-1] = of_rows**0.5
            for corrected in (False, True):
                test = resampled(values[values.index >= 0] if corrected else values, ratio)
                low, high = test.interval(level)
                kind = "alarms" if other < _METHODS - 1 else "power"
                found.append((corrected, kind, test.p_value() < level))
                found.append((corrected, "coverage", low <= truth <= high))
    frame = pd.DataFrame(found, columns=["corrected", "what", "rate"])
    return 100 * frame.groupby(["what", "corrected"])["rate"].mean().unstack()


def main():
    """Print a line for each setting."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=300)
    parser.add_argument("--rows", type=int, nargs="*", default=[400, 2000])
    asked = parser.parse_args()
    print("in brackets the corrected test")
    print("metric    rows  share splits   alarms       coverage     power")
    for metric, n_rows, share in product(METRICS, asked.rows, SHARES):
        tables = [
            simulate(metric, share, n_rows, np.random.default_rng([seed, n_rows]))
            for seed in range(asked.tables)
        ]
        for n_splits in SPLITS:
            of = rates(tables, n_splits, (1 - share) / share, EXCESS.get(metric, 1.0))
            texts = [
                f"{of.loc[k, False]:5.1f} ({of.loc[k, True]:4.1f})"
                for k in ("alarms", "coverage", "power")
            ]
            print(f"{metric:9} {n_rows:5} {share:5} {n_splits:5}   {'  '.join(texts)}", flush=True)


if __name__ == "__main__":
    main()
