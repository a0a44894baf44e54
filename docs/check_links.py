"""Check that every link inside the built site leads to a file, and to a place in it: `make docs` does."""

import re
import sys
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

SITE = Path(__file__).resolve().parents[1] / "build" / "site"


@cache
def places(page: Path) -> set[str]:
    """The names in a page that a link can end with."""
    return set(re.findall(r'\b(?:id|name)="([^"]+)"', page.read_text(encoding="utf-8")))


def is_broken(page: Path, link: str) -> bool:
    """Whether a link leads nowhere; those to other sites are not followed."""
    parts = urlsplit(link)
    if parts.scheme in ("http", "https", "data"):
        return False
    target = page.parent / unquote(parts.path) if parts.path else page
    if parts.scheme or not target.exists():
        return True
    return bool(parts.fragment) and target.suffix == ".html" and unquote(parts.fragment) not in places(target)


def broken_links(site: Path = SITE) -> list[str]:
    """Return the pages and links that lead nowhere; the folders of other versions are not looked for."""
    links = {
        page: re.findall(
            r'<(?:a|img|link|script)\b(?![^>]*data-version)[^>]*?\b(?:href|src)="([^"]+)"',
            page.read_text(encoding="utf-8"),
        )
        for page in site.rglob("*.html")
    }
    return [f"{page.relative_to(site)}: {link}" for page in links for link in links[page] if is_broken(page, link)]


if __name__ == "__main__":
    sys.exit("\n".join(broken_links()) or 0)
