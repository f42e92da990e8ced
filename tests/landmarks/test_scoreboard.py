"""The choice of parameters by held-out points, beside a loop over all of them."""

import numpy as np
import pytest

from kernlearn.landmarks.classifiers import LOSSES, Scoreboard

SLOW_LOSSES = {
    "hinge": lambda m: max(0.0, 1 - m),
    "squared_hinge": lambda m: max(0.0, 1 - m) ** 2,
    "logistic": lambda m: np.log(1 + np.exp(-m)),
}


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("each", [False, True])
def test_scoreboard_is_the_loop(loss, n_classes, each):
    rng = np.random.RandomState(n_classes)
    n_problems, rows, columns, n = (1 if n_classes == 2 else n_classes), 3, 2, 12
    codes = rng.randint(-1, n_classes, n)
    scores = rng.standard_normal((n_problems, rows, columns, n))
    board = Scoreboard(codes, n_problems, (rows, columns), loss)
    for problem in range(n_problems):
        for row in range(rows):
            board.add(problem, row, scores[problem, row].T)

    accuracy = np.zeros((n_problems, rows, columns))
    mean_loss = np.zeros((n_problems, rows, columns))
    together = np.zeros((rows, columns))
    for row, column in np.ndindex(rows, columns):
        for i in range(n):
            s = scores[:, row, column, i]
            predicted = int(s[0] > 0) if n_problems == 1 else int(np.argmax(s))
            together[row, column] += (predicted == codes[i]) / n
            for problem in range(n_problems):
                if codes[i] < 0:
                    continue
                sign = 1 if codes[i] == (1 if n_problems == 1 else problem) else -1
                accuracy[problem, row, column] += ((s[problem] > 0) == (sign > 0)) / n
                mean_loss[problem, row, column] += SLOW_LOSSES[loss](sign * s[problem])

    accuracies, best = board.best(each=each)
    np.testing.assert_allclose(accuracies, accuracy if each else together, atol=1e-12)
    cells = list(np.ndindex(rows, columns))
    for problem, cell in enumerate(best):
        losses = mean_loss[problem] if each else mean_loss.sum(axis=0)
        right = accuracy[problem] if each else together
        assert cell == min(cells, key=lambda c: (-round(right[c], 9), losses[c]))


def test_ties_go_to_the_smaller_loss_and_then_to_the_first():
    codes = np.array([0, 1])
    board = Scoreboard(codes, 1, (3, 1), "hinge")
    for row, size in enumerate([0.1, 0.5, 0.5]):  # all right, the first less surely
        board.add(0, row, np.array([[-size], [size]]))
    accuracies, best = board.best(each=False)
    np.testing.assert_array_equal(accuracies, 1)
    assert best == [(1, 0)]
