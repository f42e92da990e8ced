"""The choice of parameters by held-out points, beside a loop over all of them."""

import numpy as np
import pytest

from kernlearn.landmarks.classifiers import choose

SLOW_LOSSES = {
    "hinge": lambda m: max(0.0, 1 - m),
    "squared_hinge": lambda m: max(0.0, 1 - m) ** 2,
    "logistic": lambda m: np.log(1 + np.exp(-m)),
}


@pytest.mark.parametrize("loss", SLOW_LOSSES)
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("each", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_choice_is_that_of_a_loop(loss, n_classes, each, weighted):
    rng = np.random.RandomState(n_classes)
    n_problems, rows, columns, n = (1 if n_classes == 2 else n_classes), 3, 2, 12
    codes = rng.randint(-1, n_classes, n)
    scores = rng.standard_normal((n_problems, rows, columns, n))
    weights = rng.rand(n) if weighted else np.ones(n)
    shares, known = weights / weights.sum(), weights[codes >= 0].sum()

    accuracy = np.zeros((n_problems, rows, columns))
    mean_loss = np.zeros((n_problems, rows, columns))
    together = np.zeros((rows, columns))
    for row, column in np.ndindex(rows, columns):
        for i in range(n):
            s = scores[:, row, column, i]
            predicted = int(s[0] > 0) if n_problems == 1 else int(np.argmax(s))
            together[row, column] += (predicted == codes[i]) * shares[i]
            for problem in range(n_problems):
                if codes[i] < 0:
                    continue
                sign = 1 if codes[i] == (1 if n_problems == 1 else problem) else -1
                accuracy[problem, row, column] += ((s[problem] > 0) == (sign > 0)) * shares[i]
                term = SLOW_LOSSES[loss](sign * s[problem])
                mean_loss[problem, row, column] += weights[i] / known * term

    of_points = np.moveaxis(scores, 3, 1)
    accuracies, best = choose(of_points, codes, loss, weights if weighted else None, each=each)
    np.testing.assert_allclose(accuracies, accuracy if each else together, atol=1e-12)
    cells = list(np.ndindex(rows, columns))
    for problem, cell in enumerate(best):
        losses = mean_loss[problem] if each else mean_loss.sum(axis=0)
        right = accuracy[problem] if each else together
        assert tuple(cell) == min(cells, key=lambda c: (-round(right[c], 9), losses[c]))
