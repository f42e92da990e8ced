import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernlearn.datasets import indefinite_similarity


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 60), st.floats(0, 0.95), st.integers(0, 100))
def test_the_negative_spectrum_is_as_asked(n, negative, seed):
    found = indefinite_similarity(n, negative=negative, random_state=seed)
    K, spectrum = found.data, np.linalg.eigvalsh(found.data)
    np.testing.assert_array_equal(K, K.T)
    assert np.abs(K).max() == pytest.approx(1)
    share = -spectrum[spectrum < 0].sum() / np.abs(spectrum).sum()
    assert share == pytest.approx(negative, abs=1e-9)
    assert abs(np.bincount(found.target, minlength=2) - n / 2).max() <= 0.5
    assert found.similarity == "similarity"


def test_the_number_of_negative_eigenvalues_is_as_asked():
    K = indefinite_similarity(40, negative=0.5, n_negative=3, random_state=0).data
    spectrum = np.linalg.eigvalsh(K)
    assert np.sum(spectrum < -1e-9) == 3
    negative = -spectrum[:3] / -spectrum[0]
    np.testing.assert_allclose(negative, [1, 1 / 2, 1 / 3])


def test_less_noise_separates_the_classes_better():
    gaps = []
    for noise in (0.1, 10.0):
        found = indefinite_similarity(100, noise=noise, random_state=1)
        same = found.target[:, None] == found.target
        gaps.append(found.data[same].mean() - found.data[~same].mean())
    assert gaps[0] > 3 * gaps[1]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_samples": 1}, "n_samples must be at least 2"),
        ({"negative": 1.0}, "'negative' must be a number from 0 to below 1"),
        ({"n_negative": 200}, "n_negative must be below n_samples = 200"),
        ({"noise": -1}, "'noise' must be a finite number of 0 or more"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        indefinite_similarity(**parameters)
