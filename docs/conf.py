"""The site: README and documents as they are, completed by commands, public names and notebooks: `make docs`.

`SITE_VERSION` is the folder that is built for, such as v0.1.0, and `SITE_VERSIONS` all that there are: see .ci/site.
"""

import os
import re
import shutil
from importlib.metadata import version as installed
from pathlib import Path
from typing import Any

import click
from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

from knights_isolation.command_line.main import main

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("docs/explanation/example-report.html", "docs/how-to/boards/*.html")
"""Pages that the toolkit has written: they are opened as they are."""

project = "Knight's Isolation"
version = release = installed("knights-isolation")
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_click",
    "sphinx_external_toc",
    "sphinxcontrib.mermaid",
]
include_patterns = ["*.md", "docs/**", "examples/notebooks/*.ipynb", "experiments/suite/data/README.md"]
external_toc_path = "docs/contents.yml"
myst_enable_extensions = ["html_image"]
myst_heading_anchors = 4
myst_fence_as_directive = ["mermaid"]
nb_execution_mode = "off"
default_role = "code"
autodoc_typehints = "none"
napoleon_use_ivar = True
templates_path = ["templates"]
html_static_path = ["static"]
html_css_files = ["site.css"]
html_theme = "furo"
html_show_copyright = False
html_title = f"{project} {version.partition('+')[0]}"
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "versions.html",
        "sidebar/scroll-end.html",
    ]
}
html_context = {
    "site_version": os.environ.get("SITE_VERSION", "main"),
    "site_versions": os.environ.get("SITE_VERSIONS", "").split(),
}


def open_finished_pages(app: Sphinx, doctree: nodes.document) -> None:
    """Have links open the finished pages instead of downloading them."""
    for link in list(doctree.findall(addnodes.download_reference)):
        if link["reftarget"].endswith(".html"):
            link.replace_self(nodes.reference("", "", *link.children, refuri=link["reftarget"]))


def copy_finished_pages(app: Sphinx, error: Exception | None) -> None:
    """Put the finished pages where links expect them."""
    for page in (page for pattern in PAGES for page in ROOT.glob(pattern)):
        copy = Path(app.outdir, page.relative_to(ROOT))
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(page, copy)


def name_attributes_alone(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Join names that share an explanation, as `low, high`, which would be read as a type and a name."""
    lines[:] = [
        re.sub(r"^    [\w*]+(?:, [\w*]+)+(?=: )", lambda names: names[0].replace(", ", "/"), line) for line in lines
    ]


def show_as_typed(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Show what a function's docstring says of the command line as it is typed."""
    text = "\n".join(line if line.startswith("    isolation ") else with_plain_words(line) for line in lines)
    lines[:] = re.sub(r"(?<=^Examples:\n)(?:    .*\n?)+", as_literal_block, text, flags=re.MULTILINE).split("\n")


def with_plain_words(line: str) -> str:
    """Return a line in which options are code, and neither ID:* begins an emphasis nor FILE:NAME is a link."""
    parts = re.split(r"(`+[^`]*`+)", line)
    parts[::2] = [re.sub(r"(?<=:)\*|(?<=FILE):", r"\\\g<0>", part) for part in parts[::2]]
    parts[::2] = [re.sub(r"(?<=[ (])--[a-z][\w-]*", r"``\g<0>``", part) for part in parts[::2]]
    return "".join(parts)


def as_literal_block(lines: re.Match[str]) -> str:
    """Return indented lines as a block that is shown as it is."""
    return "    ::\n\n" + re.sub("^(?=.)", "    ", lines[0], flags=re.MULTILINE)


def mark_up_help(app: Sphinx, context: click.Context, lines: list[str]) -> None:
    """Show a command's help as it is, without emphasis and links, and options that it names as code."""
    for index, line in enumerate(lines):
        if ".. " in line or "``" in line:
            continue
        text = re.sub(r"\*|(?<=\w)[:@](?=[\w/])", r"\\\g<0>", line)
        if example := re.match(r"(\| +)(isolation .*)", line):
            lines[index] = f"{example[1]}``{example[2]}``"
        else:
            lines[index] = re.sub(r"(?<=[ (])--[a-z][\w-]*", r"``\g<0>``", text)


def setup(app: Sphinx) -> None:
    """Add what the site does besides building pages."""
    context = click.Context(main)
    main.commands = {name: main.get_command(context, name) for name in main.list_commands(context)}
    app.connect("autodoc-process-docstring", name_attributes_alone, priority=100)
    app.connect("autodoc-process-docstring", show_as_typed, priority=100)
    for part in ("description", "options", "epilog"):
        app.connect(f"sphinx-click-process-{part}", mark_up_help)
    app.connect("doctree-read", open_finished_pages, priority=100)
    app.connect("build-finished", copy_finished_pages)
