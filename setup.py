"""The package's description: the README, whose links and pictures must work away from the repository."""

import re
from pathlib import Path

from setuptools import setup

PAGES = "https://github.com/knights-isolation/knights-isolation/blob/main/"
PICTURES = "https://raw.githubusercontent.com/knights-isolation/knights-isolation/main/"

text = (Path(__file__).parent / "README.md").read_text(encoding="utf-8")
text = re.sub(r'src="(?!https?:)', f'src="{PICTURES}', text)
text = re.sub(r"\]\((?!https?:|#)", f"]({PAGES}", text)
setup(long_description=text, long_description_content_type="text/markdown")
