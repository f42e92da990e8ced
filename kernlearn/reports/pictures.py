"""Pictures of charts, of which the last ones are kept in the user's cache."""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

from kernlearn.datasets.cache import write_whole
from kernlearn.datasets.files import cache_folder
from kernlearn.reports.vega import vega_lite_version
from kernlearn.reports.xml_text import drawable

# Files kept, of which a picture has two: those of the site of all experiments several times.
_MOST_KEPT = 1000


def save_pictures(chart: Mapping[str, Any], stem: Path) -> list[Path]:
    """Draw a Vega-Lite specification; return the SVG and PDF files, ``stem`` with suffixes.

    Files that show the same specification are left as they are, and pictures that were drawn
    before are taken from the cache.
    """
    files = [stem.with_suffix(suffix) for suffix in (".svg", ".pdf")]
    text = json.dumps(drawable(chart))
    digest = sha256(f"{text} {version('vl-convert-python')}".encode()).hexdigest()
    # the mark comes last, so that files that were not written in full are drawn again
    mark = f"<!-- {digest} -->\n"
    if files[1].is_file() and _ends_with(files[0], mark):
        return files
    svg, pdf = _kept(digest, mark) or _drawn(text, mark, digest)
    files[1].write_bytes(pdf)
    files[0].write_bytes(svg)
    return files


def _ends_with(file: Path, text: str) -> bool:
    return file.is_file() and file.read_text(encoding="utf-8").endswith(text)


def _drawn(text: str, mark: str, digest: str) -> tuple[bytes, bytes]:
    import vl_convert

    drawn = vl_convert.vegalite_to_svg(text, vl_version=vega_lite_version())
    pdf = vl_convert.svg_to_pdf(drawn)
    svg = f"{drawn}\n{mark}".encode()
    svg_file, pdf_file = _places(digest)
    write_whole(svg_file, lambda file: file.write(svg))
    write_whole(pdf_file, lambda file: file.write(pdf))
    _remove_oldest()
    return svg, pdf


def _places(digest: str) -> tuple[Path, Path]:
    folder = cache_folder() / "pictures"
    return folder / f"{digest}.svg", folder / f"{digest}.pdf"


def _kept(digest: str, mark: str) -> tuple[bytes, bytes] | None:
    """Return a picture from the cache, if it is there and whole."""
    files = _places(digest)
    with suppress(OSError):
        svg, pdf = (file.read_bytes() for file in files)
        for file in files:
            os.utime(file)  # used last
        if svg.endswith(mark.encode()) and pdf.startswith(b"%PDF"):
            return svg, pdf
    return None


def _remove_oldest() -> None:
    """Keep the files that were used last."""
    with suppress(OSError):
        files = [*(cache_folder() / "pictures").iterdir()]
        if len(files) > _MOST_KEPT:
            for file in sorted(files, key=lambda file: file.stat().st_mtime)[:-_MOST_KEPT]:
                file.unlink(missing_ok=True)
