"""Coverage-guided fuzzing of one target: `python -m benchmarks.attacks.fuzzing TARGET RUNS FOLDER`; needs atheris."""

from __future__ import annotations

import sys
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["knights_isolation"]):
    from benchmarks.attacks.targets import SEEDS, TARGETS, refused


def main(name: str, runs: str, folder: str) -> None:
    """Fuzz for a number of runs, or until an error, which ends the process with another exit code than 0."""
    corpus = Path(folder, name)
    corpus.mkdir(parents=True)
    for number, seed in enumerate(SEEDS[name]):
        (corpus / f"seed-{number}").write_bytes(seed)
    options = [f"-runs={runs}", "-max_len=400", "-timeout=60", f"-artifact_prefix={folder}/", str(corpus)]
    atheris.Setup([sys.argv[0], *options], lambda data: refused(TARGETS[name], data) and None)
    atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])
