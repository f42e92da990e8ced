"""False alarms, coverage and power of the test of two methods on a data set, by simulation.

``python -m benchmarks.comparisons --tables 900 --methods 2`` draws data sets with so many equal
methods and a better one, each by least squares on ten features. For each metric, share of training
rows and number of splits it prints, in per cent at level 5, how often two equal methods are called
different; how often any two are, with Holm's adjustment, as where bold is decided; how often the
interval of a difference has the true one; and how often the better one is called better. In
brackets stand those of the corrected resampled t-test.

The tests are those of reports (:mod:`kernlearn.reports.statistics`).
"""

from argparse import ArgumentParser
from itertools import combinations, product

import numpy as np
import pandas as pd

from kernlearn.engine.losses import values_of
from kernlearn.reports.covariances import EXCESS
from kernlearn.reports.statistics import holm, resampled

METRICS = ("accuracy", "mse", "auc", "average_precision", "ndcg")
SHARES = (0.7, 0.6, 0.5, 0.14)
SPLITS = (5, 10, 20)
_FEATURES, _OF_QUERY = 10, 8


def simulate(metric, share, n_rows, n_methods, rng):
    """Return means and covariances over test rows, by split, and the number of units."""
    noise = 6 * (n_methods / 2) ** 0.5
    n_units = n_rows // 2 if metric == "ndcg" else n_rows
    n_rows = n_units * _OF_QUERY if metric == "ndcg" else n_rows
    X = rng.normal(size=(n_rows, n_methods, _FEATURES))
    better = 1 + 0.5 * (400 / n_rows) ** 0.5 * (np.arange(n_methods) == n_methods - 1)
    y = X.sum(axis=2) @ better + rng.normal(0, noise, n_rows)
    unit, target = np.arange(n_rows), y / noise
    if metric in ("accuracy", "auc"):
        target = (y > 0).astype(float)
    elif metric == "average_precision":  # of a rare class
        target = (y > np.quantile(y, 0.9)).astype(float)
    elif metric == "ndcg":
        unit = np.repeat(np.arange(n_units), _OF_QUERY)
        target = np.digitize(y, np.quantile(y, [0.6, 0.85])).astype(float)
    centre = target.mean()
    means = np.empty((max(SPLITS), n_methods))
    covariances = np.empty((max(SPLITS), n_methods, n_methods))
    for split in range(max(SPLITS)):
        is_training = np.isin(unit, rng.permutation(n_units)[: round(share * n_units)])
        values = []
        for method in range(n_methods):
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
    found, last = [], tables[0][0].shape[1] - 1
    p_values = {corrected: [[] for _ in tables] for corrected in (False, True)}
    for one, other in combinations(range(last + 1), 2):
        truth = np.mean([means[:, one] - means[:, other] for means, *_ in tables])
        truth = 0.0 if other < last else truth
        for table, (means, covariances, n_units) in enumerate(tables):
            values = pd.Series(means[:n_splits, one] - means[:n_splits, other])
            c = covariances[:n_splits].mean(axis=0)
            of_rows = excess * (c[one, one] + c[other, other] - 2 * c[one, other]) / n_units
            values.loc[-1] = of_rows**0.5
            for corrected in (False, True):
                test = resampled(values[values.index >= 0] if corrected else values, ratio)
                low, high = test.interval(level)
                kind = "alarms" if other < last else "power"
                found.append((corrected, kind, test.p_value() < level))
                found.append((corrected, "coverage", low <= truth <= high))
                if other < last:
                    p_values[corrected][table].append(test.p_value())
    for corrected, of_tables in p_values.items():
        found += [(corrected, "any", holm(p).min() < level) for p in of_tables]
    frame = pd.DataFrame(found, columns=["corrected", "what", "rate"])
    return 100 * frame.groupby(["what", "corrected"])["rate"].mean().unstack()


def main():
    """Print a line for each setting."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=300)
    parser.add_argument("--metrics", nargs="*", choices=METRICS, default=METRICS)
    parser.add_argument("--rows", type=int, nargs="*", default=[400, 2000])
    parser.add_argument("--methods", type=int, nargs="*", default=[2, 10])
    asked = parser.parse_args()
    print("in brackets the corrected test")
    print("metric    rows methods share splits   alarms       any          coverage     power")
    for metric, n_rows, n_equal, share in product(
        asked.metrics, asked.rows, asked.methods, SHARES
    ):
        tables = [
            simulate(metric, share, n_rows, n_equal + 1, np.random.default_rng([seed, n_rows]))
            for seed in range(asked.tables)
        ]
        for n_splits in SPLITS:
            of = rates(tables, n_splits, (1 - share) / share, EXCESS.get(metric, 1.0))
            texts = [
                f"{of.loc[k, False]:5.1f} ({of.loc[k, True]:4.1f})"
                for k in ("alarms", "any", "coverage", "power")
            ]
            where = f"{metric:9} {n_rows:5} {n_equal:5} {share:5} {n_splits:5}"
            print(f"{where}   {'  '.join(texts)}", flush=True)


if __name__ == "__main__":
    main()
