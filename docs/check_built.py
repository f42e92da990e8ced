"""Check the built site: ``python docs/check_built.py FOLDER``.

Every link within the site leads to a page, file or place that is there, and no page loads anything
from a network. What is wrong is printed, and the exit code is 1.
"""

import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# What a browser loads with a page, rather than when a reader follows it.
_LOADED = {
    ("script", "src"),
    ("img", "src"),
    ("iframe", "src"),
    ("source", "src"),
    ("link", "href"),
}


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.places: set[str] = set()
        self.links: set[str] = set()
        self.loaded: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value is None:
                continue
            if name == "id" or (tag, name) == ("a", "name"):
                self.places.add(value)
            elif name in ("href", "src"):
                self.links.add(value)
                if (tag, name) in _LOADED:
                    self.loaded.add(value)


@cache
def _read(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def faults(folder: Path) -> list[str]:
    """Return what is wrong with the links of a built site, a line each."""
    found = []
    for path in sorted(folder.rglob("*.html")):
        name = path.relative_to(folder).as_posix()
        if name.startswith("_static/"):  # the theme's templates
            continue
        page = _read(path)
        for link in sorted(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.loaded and parts.scheme != "data":
                    found.append(f"{name}: loads {link}, which needs a network")
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            if not target.is_file():
                found.append(f"{name}: {link} leads nowhere")
            elif target.suffix == ".html" and parts.fragment:
                places = _read(target).places
                if not {parts.fragment, unquote(parts.fragment)} & places:
                    found.append(f"{name}: {link} leads to no place of the page")
    return found


if __name__ == "__main__":
    wrong = faults(Path(sys.argv[1]))
    print("\n".join(wrong) or "All links within the site lead somewhere, and nothing is loaded.")
    sys.exit(bool(wrong))
