import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernlearn.landmarks.model_selection import LOSSES, Scoreboard, hold_out


@given(st.lists(st.integers(2, 30), min_size=1, max_size=6), st.integers(0, 5), st.data())
def test_holds_out_a_stratified_share(sizes, n_single, data):
    fraction = data.draw(st.floats(0.05, 0.95))
    rng = np.random.RandomState(data.draw(st.integers(0, 2**31 - 1)))
    codes = rng.permutation(np.repeat(np.arange(len(sizes) + n_single), sizes + [1] * n_single))
    kept, apart = hold_out(codes, fraction, rng)
    np.testing.assert_array_equal(np.sort(np.r_[kept, apart]), np.arange(len(codes)))
    assert len(apart) >= 1
    assert set(codes[kept]) == set(codes)
    if not n_single and all(size >= 2 / (1 - fraction) for size in sizes):
        assert abs(len(apart) - fraction * len(codes)) < 1 or len(apart) == 1
        per_class = np.bincount(codes[apart], minlength=len(sizes))
        # each class gives its share, and one more or less where the total asks for it
        assert (np.abs(per_class - fraction * np.array(sizes)) <= 2).all()


def test_points_held_out_are_drawn_at_random():
    codes = np.repeat([0, 1], 50)
    first, second = (hold_out(codes, 0.2, np.random.RandomState(seed))[1] for seed in (0, 1))
    assert len(first) == len(second) == 20
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(first, hold_out(codes, 0.2, np.random.RandomState(0))[1])


def test_nothing_can_be_held_out_of_single_points():
    with pytest.raises(ValueError, match="no class with two points"):
        hold_out(np.arange(4), 0.5, np.random.RandomState(0))


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

    expected = accuracy if each else together
    np.testing.assert_allclose(board.accuracies(each=each), expected, atol=1e-12)
    cells = list(np.ndindex(rows, columns))
    for problem, cell in enumerate(board.best(each=each)):
        losses = mean_loss[problem] if each else mean_loss.sum(axis=0)
        right = accuracy[problem] if each else together
        assert cell == min(cells, key=lambda c: (-round(right[c], 9), losses[c]))


def test_ties_go_to_the_smaller_loss_and_then_to_the_first():
    codes = np.array([0, 1])
    board = Scoreboard(codes, 1, (3, 1), "hinge")
    for row, size in enumerate([0.1, 0.5, 0.5]):  # all right, the first less surely
        board.add(0, row, np.array([[-size], [size]]))
    np.testing.assert_array_equal(board.accuracies(each=False), 1)
    assert board.best(each=False) == [(1, 0)]
