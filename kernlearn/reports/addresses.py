"""Permanent addresses within a page, of cells, rows and claims, and names of its files."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from kernlearn.config.spec import LABELS

# A claim's address begins with its first words.
_LONGEST = 48


def slug(text: str) -> str:
    """Return a name for ids and classes: lower case, hyphens for all but letters and digits."""
    return re.sub(r"[\W_]+", "-", text.lower()).strip("-")


def place_of(row: Mapping[Any, Any]) -> tuple[str, ...]:
    """Name the place of a summary's row: data set, kernel, method and varied parameters."""
    labels = [row[label] for label in LABELS if isinstance(row.get(label), str)]
    varied = json.loads(row.get("params") or "{}")
    texts = [f"{k}={v:g}" if isinstance(v, float) else f"{k}={v}" for k, v in varied.items()]
    return (*labels, *texts)


def joined(*parts: str) -> str:
    """Join texts to an address such as ``spambase.polynomial.h0-1.n-components-50.accuracy``."""
    return ".".join(filter(None, map(slug, parts)))


def claim_addresses(claims: Iterable[Any]) -> list[str]:
    """Return the addresses of claims, each the same wherever it stands in the list."""
    return numbered(_claim_address(claim.says, claim.section) for claim in claims)


def _claim_address(says: str, section: str) -> str:
    name = slug(says)
    words = name[:_LONGEST].rpartition("-")[0] if len(name) > _LONGEST else name
    digest = hashlib.sha256(f"{section}: {says}".encode()).hexdigest()
    return f"claim.{words}.{digest[:6]}"


def numbered(addresses: Iterable[str]) -> list[str]:
    """Return the addresses, with numbers behind those that occurred before."""
    counts: dict[str, int] = {}
    found = []
    for address in addresses:
        counts[address] = counts.get(address, 0) + 1
        n = counts[address]
        found.append(f"{address}.{n}" if n > 1 else address)
    return found


class Taken:
    """The addresses of a page: what stands on it twice has that of its first place."""

    def __init__(self) -> None:
        self.addresses: set[str] = set()

    def first(self, address: str) -> str:
        """Return an address, or an empty text if it is taken."""
        if address in self.addresses:
            return ""
        self.addresses.add(address)
        return address


def file_stems(stem: str, count: int) -> list[str]:
    """Return names of files without suffix, with numbers if there are several."""
    return [stem] if count == 1 else [f"{stem}{i + 1}" for i in range(count)]
