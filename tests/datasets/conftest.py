"""Small data sets written exactly as the published ones are."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kernlearn.datasets import Card
from tests.isolated import no_real_folders

__all__ = ["no_real_folders"]

NURSERY_LIKE = {
    "columns": ["parents", "children", "class"],
    "target": "class",
    "nominal": {"parents": ["usual", "pretentious", "great_pret"], "children": [1, 2, 3, "more"]},
}
NURSERY_ROWS = "usual,1,no\nusual,more,yes\ngreat_pret,2,yes\npretentious,1,no\ngreat_pret,3,no\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder for data."""
    made = tmp_path / "data"
    made.mkdir()
    return made


@pytest.fixture
def make_card() -> Callable[..., Card]:
    """Make a card out of its format and what differs from the defaults."""

    def make(form: dict[str, Any], *more: dict[str, Any], **changes: Any) -> Card:
        content = {
            "name": "small",
            "title": "Small",
            "task": "classification",
            "n_features": 2,
            "source": {"publisher": "Nobody", "page": "https://example.org/small"},
            "licence": "none",
            "citation": "none",
            "forms": [form, *more],
        }
        return Card.model_validate(content | changes)

    return make


@pytest.fixture
def nursery_like(make_card: Callable[..., Card]) -> Card:
    """Two nominal columns and a class, in small.data."""
    return make_card(
        {
            "files": ["small.data"],
            "format": {"kind": "delimited", **NURSERY_LIKE},
            "rows": 5,
            "classes": {"no": 3, "yes": 2},
        }
    )
