"""Estimators on strings, series and graphs do what `requirements` lists."""

import pytest
from sklearn.model_selection import GridSearchCV

from kernlearn.kernels.libraries import LIBRARIES
from kernlearn.landmarks import BBSClassifier
from kernlearn.similarities import RapidFuzzSimilarity
from tests.similarities import objects
from tests.similarities.requirements import (
    ESTIMATORS,
    FIRST,
    OBJECTS,
    OTHER_OBJECTS,
    OTHERS,
    REQUIREMENTS,
    meant,
)

CASES = [
    pytest.param(requirement, estimator, kind, id=f"{requirement.__name__}-{estimator}-{kind}")
    for estimator in (*ESTIMATORS, *OTHERS)
    for kind in (*OBJECTS, *OTHER_OBJECTS)
    for requirement in REQUIREMENTS
    if meant(requirement, estimator)
    and (requirement in FIRST or (estimator in ESTIMATORS and kind in OBJECTS))
]


@pytest.mark.parametrize(("requirement", "estimator", "kind"), CASES)
def test_requirement(requirement, estimator, kind):
    points, classes, similarity = {**OBJECTS, **OTHER_OBJECTS}[kind]
    if isinstance(similarity, str) and (library := LIBRARIES.get(similarity.partition(".")[0])):
        pytest.importorskip(library.module)
    requirement(estimator, points, classes, similarity)


def test_parameters_of_a_similarity_are_chosen():
    points, classes = objects.strings()
    similarity = RapidFuzzSimilarity("jaro_winkler")
    model = BBSClassifier(15, similarity=similarity, C=1, random_state=0)
    grid = {
        "similarity__prefix_weight": [0.0, 0.2],
        "similarity__measure": ["normalized_similarity", "distance"],
    }
    search = GridSearchCV(model, grid, cv=3).fit(points, classes)
    assert search.best_params_.keys() == grid.keys()
    assert search.score(points, classes) > 0.7
