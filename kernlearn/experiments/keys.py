"""Keys of trials: the same specification, the same key."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any


def canonical(value: Any) -> str:
    """Write a value as JSON that does not depend on order or on ``1`` against ``1.0``."""
    return json.dumps(_plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    return value


def trial_key(spec: Mapping[str, Any]) -> str:
    """Return the key of a trial's specification, split included."""
    return _digest(canonical(spec))


def split_keys(spec: Mapping[str, Any], splits: Iterable[int]) -> Iterator[str]:
    """Yield the keys of the splits of a cell; what they share is written once."""
    # the text that canonical gives, cut at the number of the split
    before = {k: v for k, v in spec.items() if k < "split"}
    after = {k: v for k, v in spec.items() if k > "split"}
    start = f'{canonical(before)[:-1]}{"," if before else ""}"split":'
    end = f"{',' if after else ''}{canonical(after)[1:]}"
    for split in splits:
        yield _digest(f"{start}{split}{end}")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:24]
