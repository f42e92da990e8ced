import pytest
from pydantic import ValidationError

from kernlearn.datasets.formats import Bundled, Delimited, Libsvm


def test_numbers_are_labels_too():
    assert Delimited(nominal={"children": [1, 2, "more"]}).nominal["children"] == (
        "1",
        "2",
        "more",
    )


def test_what_yaml_makes_of_no_is_refused():
    with pytest.raises(ValidationError, match="string"):
        Delimited(nominal={"answer": [False, True]})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": ["a", "y"]}, "2 distinct names, expected 3"),
        ({"columns": ["a", "a", "y"]}, "2 distinct names, expected 3"),
        ({"columns": ["a", "b", "c", "y"]}, "4 distinct names, expected 3"),
        ({"columns": ["a", "b", "y"], "target": "z"}, "z: not among columns"),
        ({"columns": ["a", "b", "c", "y"], "drop": ["d"]}, "d: not among columns"),
        ({"columns": ["a", "b", "y"], "nominal": {"c": ["u"]}}, "c: not among columns"),
        ({"columns": ["a", "b", "y"], "header": True}, "left out if header is true"),
    ],
)
def test_columns_must_agree(options, message):
    with pytest.raises(ValueError, match=message):
        Delimited(**options).check(2)


def test_one_target_in_one_way():
    with pytest.raises(ValueError, match="one_hot, blocks: only one of them is allowed"):
        Delimited(one_hot=True, blocks=2).check(2, 2)
    for options in (Delimited(one_hot=True), Delimited(blocks=2)):
        options.check(2, 3)
        with pytest.raises(ValueError, match="only allowed if the card has classes"):
            options.check(2)


@pytest.mark.parametrize(
    ("options", "width"), [({}, 3), ({"one_hot": True}, 6), ({"blocks": 7}, 2)]
)
def test_the_width_of_a_row_depends_on_how_the_target_is_written(options, width):
    names = tuple("abcdefgh")
    Delimited(columns=names[:width], target=0, **options).check(2, 4)
    with pytest.raises(ValueError, match=f"expected {width}"):
        Delimited(columns=names[: width + 1], target=0, **options).check(2, 4)


@pytest.mark.parametrize(
    "options",
    [
        Delimited(columns=("a", "b", "y"), target="y", nominal={"b": ("u", "v")}),
        Delimited(columns=("id", "a", "b", "y"), drop=("id",)),
        Delimited(),
        Libsvm(),
        Bundled(loader="load_iris"),
    ],
)
def test_agreeing_options_pass(options):
    options.check(2)


def test_options_cannot_be_changed():
    with pytest.raises(ValidationError, match="frozen"):
        Libsvm().zero_based = True
