import pytest
from sklearn import datasets as bundled

from kernlearn.datasets import load

LOADERS = {
    "breast_cancer_wdbc": bundled.load_breast_cancer,
    "diabetes_sklearn": bundled.load_diabetes,
    "digits": bundled.load_digits,
    "iris": bundled.load_iris,
    "wine": bundled.load_wine,
}


@pytest.mark.parametrize("name", LOADERS)
def test_data_bundled_with_scikit_learn_is_returned_as_it_is(name, tmp_path):
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
    assert not (tmp_path / "cache" / "parsed").exists()
