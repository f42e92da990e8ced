"""The documentation site: `make docs` builds it in build/docs."""

import inspect
import re
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from altair_scraper import altair_scraper
from numpydoc.docscrape import ClassDoc
from reference_pages import EXTRA, PAGES, ROOT
from sphinx.util.inspect import stringify_signature

from kernlearn import __version__

project = "kernlearn"
author = "The kernlearn developers"
copyright = author
version = release = __version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "mathml",
    "numpydoc",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = [
    "_templates/**",
    "gallery/**",
    "auto_examples/**/*.ipynb",
    "auto_examples/**/*.py",
]

# Formulas are drawn by the browser itself (docs/mathml.py): no page needs a network.
html_math_renderer = "mathml"

# Markdown, as GitHub reads it: the same anchors of headings, $...$ as mathematics.
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4

# A page for each public name of the packages that api/index.rst lists.
templates_path = ["_templates"]
autosummary_ignore_module_all = False
autosummary_imported_members = True
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
autodoc_typehints = "none"
# a long signature has a line for each parameter, which a phone can show too
maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"
suppress_warnings = ["config.cache"]
# Every reference leads somewhere, but for those to other projects: a build needs no network.
nitpicky = True
nitpick_ignore_regex = [("py:.*", r"(joblib|pandas|rapidfuzz|scipy|sklearn)\..*")]

# `make linkcheck`, where there is a network
linkcheck_timeout = 20
linkcheck_retries = 2
linkcheck_workers = 8
# publishers' pages that refuse programs, or have moved their anchors
linkcheck_anchors = False
# pages that are copied as they are; docs/check_built.py looks at links within the site
linkcheck_ignore = [r"experiments/.*\.html"]

sphinx_gallery_conf = {
    "examples_dirs": ["gallery"],
    "gallery_dirs": ["auto_examples"],
    "filename_pattern": r"plot_",
    "image_scrapers": (altair_scraper,),
    "reset_modules": (),
    "capture_repr": (),
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    # its page loads scripts from the network
    "write_computation_times": False,
    "plot_gallery": True,
    "within_subsection_order": "FileNameSortKey",
}

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# "--" is the beginning of an option, and no dash
smartquotes = False

html_theme = "pydata_sphinx_theme"
html_title = f"kernlearn {version}"
html_show_sourcelink = False
html_static_path = ["static"]
html_css_files = ["site.css"]
# the site of the experiments, and pictures of results where pages look for them
html_extra_path = [str(EXTRA)]
shutil.copytree(
    ROOT / "results" / "measured",
    EXTRA / "results" / "measured",
    ignore=lambda _, names: [name for name in names if not name.endswith(".svg")],
    dirs_exist_ok=True,
)
html_theme_options = {
    "navbar_align": "left",
    # the whole tree in the side bar of each of 300 pages takes most of the time of a build
    "collapse_navigation": True,
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
}


def join_long_lines(_app, _what, _name, _obj, _options, lines):
    """Join a line that ends in a backslash with the next: raw docstrings keep both."""
    text = re.sub(r" \\\n\s*", " ", "\n".join(lines))
    lines[:] = text.split("\n")


def escape_trailing_underscores(_app, _what, _name, _obj, _options, lines):
    """Keep fitted attributes, such as coef_, from being read as links."""
    for i, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...", "..")):
            lines[i] = re.sub(r"(?<![\w`.*\\])([A-Za-z]\w*)_(?![\w`*])", r"\1\\_", line)


def common_parameters_first(_app, what, _name, obj, _options, signature, _returns):
    """Order the keyword arguments of a class as its docstring does: not as it inherits them."""
    if what != "class" or not signature:
        return None
    found = inspect.signature(obj)
    names = re.findall(r"\w+", " ".join(one.name for one in ClassDoc(obj)["Parameters"]))

    def place(parameter):
        is_keyword = parameter.kind is inspect.Parameter.KEYWORD_ONLY
        known = is_keyword and parameter.name in names
        return parameter.kind, names.index(parameter.name) if known else is_keyword * len(names)

    ordered = found.replace(parameters=sorted(found.parameters.values(), key=place))
    return stringify_signature(ordered, show_annotation=False), None


def leave_out_foreign(_app, _what, _name, obj, _skip, _options):
    """Document only what is defined in kernlearn: classes inherit from other projects, too."""
    function = getattr(obj, "fget", getattr(obj, "func", obj))  # of a property, if it is one
    module = getattr(function, "__module__", None) or ""
    return None if module.startswith("kernlearn") else True


def as_on_the_site(_app, page, content):
    """Fill in the templates, and lead links out of docs/ to where the site has the same."""
    (text,) = content
    if page == "experiments" or page.startswith("reference/"):
        text = PAGES.from_string(text).render()
    text = re.sub(r'(src|srcset)="\.\./', r'\1="', text)
    text = re.sub(r"\]\(\.\./([A-Z]+\.md)\)", r"](\1)", text)
    # a doctest ends with a blank line, which a page need not show
    content[0] = re.sub(r"\n\n```$", "\n```", text, flags=re.MULTILINE)


def setup(app):
    """Repair docstrings before numpydoc reads them (at 500), and after."""
    app.connect("source-read", as_on_the_site)
    app.connect("include-read", lambda app, _, page, content: as_on_the_site(app, page, content))
    app.connect("autodoc-skip-member", leave_out_foreign)
    app.connect("autodoc-process-signature", common_parameters_first)
    app.connect("autodoc-process-docstring", join_long_lines, priority=400)
    app.connect("autodoc-process-docstring", escape_trailing_underscores, priority=600)
