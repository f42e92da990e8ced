"""Accuracy and AUC of moments on real data against models of the same features in memory."""

import numpy as np
import pytest
from sklearn.linear_model import RidgeClassifierCV
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

from kernlearn.datasets import load
from kernlearn.features import RandomMaclaurin
from kernlearn.kernels import PolynomialKernel
from kernlearn.onepass import OnePassRankRLS, OnePassRidgeClassifier

pytestmark = pytest.mark.data


@pytest.mark.parametrize(
    ("h01", "name"),
    [
        (True, "cod_rna"),
        pytest.param(False, "cod_rna", marks=pytest.mark.exhaustive),
        pytest.param(True, "ijcnn1", marks=pytest.mark.exhaustive),
        pytest.param(False, "ijcnn1", marks=pytest.mark.exhaustive),
    ],
)
def test_moments_are_as_good_as_all_rows_in_memory(name, h01):
    data = load(name)
    X, y = data.data, np.asarray(data.target)
    X = StandardScaler().fit_transform(X.toarray() if hasattr(X, "toarray") else X)
    X /= np.linalg.norm(X, axis=1).max()
    held = np.random.RandomState(0).permutation(len(y)) < 0.3 * len(y)
    feature_map = RandomMaclaurin(PolynomialKernel(10), 100, h01=h01, random_state=0)
    model = OnePassRidgeClassifier(feature_map).fit(X[~held], y[~held])
    Z = model.feature_map_.transform(X)
    memory = RidgeClassifierCV(alphas=model.alphas_).fit(Z[~held], y[~held])
    assert model.score(X[held], y[held]) == pytest.approx(
        memory.score(Z[held], y[held]), abs=0.001
    )

    ranker = OnePassRankRLS(feature_map).fit(X[~held], y[~held])
    up, down = (Z[~held][y[~held] == c] for c in reversed(model.classes_))
    shift = up.mean(axis=0) - down.mean(axis=0)
    pairs = np.cov(up.T, bias=True) + np.cov(down.T, bias=True) + np.outer(shift, shift)
    weights = np.linalg.solve(pairs + ranker.alpha_ * np.eye(len(pairs)), shift)
    auc = [
        roc_auc_score(y[held], scores)
        for scores in (ranker.decision_function(X[held]), Z[held] @ weights)
    ]
    assert auc[0] == pytest.approx(auc[1], abs=0.001)
