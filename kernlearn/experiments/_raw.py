"""Looking into a config as it was read, whatever form its parts have."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any


def mapping(raw: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    here: Any = raw
    for key in keys:
        here = here.get(key) if isinstance(here, Mapping) else None
    return here if isinstance(here, dict) else {}


def entries(raw: Mapping[str, Any], section: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for label, entry in mapping(raw, section).items():
        if entry is None or isinstance(entry, dict):
            yield label, entry or {}


def texts(value: Any) -> list[str]:
    return [v for v in value if isinstance(v, str)] if isinstance(value, list) else []


def is_file(path: Path) -> bool:
    """Whether there is such a file; no name, however odd, is an error."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def own_parameters(entry: Mapping[str, Any], model: type) -> dict[str, Any]:
    known = model.model_fields  # type: ignore[attr-defined]
    return {k: v for k, v in entry.items() if k not in known}
