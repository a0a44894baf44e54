"""axe-core, which finds what keeps people from using a page: fetched once from npm, never shipped (licence MPL-2.0)."""

import shutil
import subprocess
import tarfile
from hashlib import sha256

import pytest
from platformdirs import user_cache_path

VERSION = "4.14.1"
EVERYTHING = {"resultTypes": ["violations"]}
COLOURS = {"resultTypes": ["violations"], "runOnly": ["color-contrast", "link-in-text-block"]}
_SHA256 = "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c"


def axe_script(folder):
    """The text of axe-core; `folder` is one to unpack it in. Skips the test where it cannot be had."""
    kept = user_cache_path("isolation") / f"axe-core-{VERSION}.js"
    if not kept.exists():
        npm = shutil.which("npm") or pytest.skip("npm is not installed, which fetches axe-core")
        fetched = subprocess.run([npm, "pack", f"axe-core@{VERSION}"], cwd=folder, capture_output=True, check=False)
        if fetched.returncode:
            pytest.skip("axe-core cannot be fetched from npm")
        with tarfile.open(folder / f"axe-core-{VERSION}.tgz") as packed:
            text = packed.extractfile("package/axe.min.js").read()
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(text)
    text = kept.read_bytes()
    assert sha256(text).hexdigest() == _SHA256, f"{kept} is not axe-core {VERSION}: remove it"
    return text.decode()


def violations(page, script, options=EVERYTHING):
    """What axe-core finds wrong with a page as it is shown, a line each."""
    page.evaluate(script)
    answer = page.evaluate("options => axe.run(document, options)", options)["violations"]
    return [f"{item['id']}: {item['help']}: {node['html'][:100]}" for item in answer for node in item["nodes"]]
