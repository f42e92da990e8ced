import pytest
from sklearn import datasets as carried

from kernlearn.datasets import load

LOADERS = {
    "breast_cancer_wdbc": carried.load_breast_cancer,
    "diabetes_sklearn": carried.load_diabetes,
    "digits": carried.load_digits,
    "iris": carried.load_iris,
    "wine": carried.load_wine,
}


@pytest.mark.parametrize("name", LOADERS)
def test_what_scikit_learn_carries_is_handed_on(name, tmp_path):
    ours, theirs = load(name), LOADERS[name]()
    assert (ours.data == theirs.data).all()
    assert ours.feature_names.tolist() == list(theirs.feature_names)
    if ours.card.task == "regression":
        assert (ours.target == theirs.target).all()
    else:
        names = [str(label) for label in theirs.target_names]
        assert ours.target_names[ours.target].tolist() == [names[code] for code in theirs.target]
    assert ours.path is None
    assert not ours.sample
    assert ours.note == ""
    assert not (tmp_path / "cache").exists()
