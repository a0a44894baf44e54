"""The site: the README and the documents as they are, by `make docs`."""

from importlib.metadata import version as installed

project = "Knight's Isolation"
version = release = installed("knights-isolation")
extensions = ["myst_parser", "sphinx_external_toc", "sphinxcontrib.mermaid"]
include_patterns = ["*.md", "docs/**", "experiments/suite/data/README.md"]
external_toc_path = "docs/contents.yml"
myst_enable_extensions = ["html_image"]
myst_heading_anchors = 4
myst_fence_as_directive = ["mermaid"]
html_theme = "furo"
html_title = project
