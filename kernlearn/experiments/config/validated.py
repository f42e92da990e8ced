"""Cache of settings that have been checked, so that planning needs no estimator classes."""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

from kernlearn.registration import Registered


class ValidatedSettings:
    """Settings of estimators and kernels that have been checked, kept in the user's cache.

    Checking a value needs the class and so scikit-learn; what was valid once stays valid until
    the code of kernlearn or the version of scikit-learn changes.
    """

    def __init__(self) -> None:
        from kernlearn.datasets.cache import cache_folder

        self._path = cache_folder() / "validated.json"
        self._state = _code_state()
        self._digests: set[str] = set()
        self._changed = False
        with suppress(OSError, ValueError, TypeError, LookupError, AttributeError):
            content = json.loads(self._path.read_text(encoding="utf-8"))
            if content["state"] == self._state:
                self._digests = set(content["digests"])

    def digest(self, component: Registered, parameters: Mapping[str, Any]) -> str:
        """Return a digest of a component and its parameters."""
        text = json.dumps([component.kind, component.name, parameters], sort_keys=True)
        return sha256(text.encode()).hexdigest()[:16]

    def __contains__(self, digest: str) -> bool:
        return digest in self._digests

    def add(self, digest: str) -> None:
        """Remember valid settings."""
        self._digests.add(digest)
        self._changed = True

    def save(self) -> None:
        """Write what was added; a cache that cannot be written is no error."""
        if not self._changed:
            return
        content = {"state": self._state, "digests": sorted(self._digests)}
        temporary = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_text(json.dumps(content), encoding="utf-8")
            temporary.replace(self._path)
        self._changed = False


@cache
def _code_state() -> str:
    """Return a digest of kernlearn's source files and of the version of scikit-learn."""
    root = Path(__file__).parents[2]
    files = sorted((str(p.relative_to(root)), p.stat()) for p in root.rglob("*.py"))
    state = [[name, stat.st_size, stat.st_mtime_ns] for name, stat in files]
    return sha256(json.dumps([version("scikit-learn"), state]).encode()).hexdigest()
