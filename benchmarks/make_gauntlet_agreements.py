"""Make the table of rank correlations of the shipped suites with gauntlets.

`python -m benchmarks.make_gauntlet_agreements RUN...` computes it from finished gauntlets.
"""

import sys
from collections.abc import Sequence
from dataclasses import asdict, fields

from knights_isolation.experiments.record.run_directory import load_run
from knights_isolation.experiments.suite.screening import FILE, Agreement, agreement_with
from knights_isolation.experiments.suite.suite_file import read_suite
from knights_isolation.isolation.files.received import write_shipped


def write_agreements(runs: Sequence[str]) -> None:
    """Write the correlations of these gauntlets with the shipped suites of their boards."""
    agreements = [agreement_with(run, read_suite(load_run(run).requested["board"], "screen"), jobs=2) for run in runs]
    names = [field.name for field in fields(Agreement)]
    lines = [",".join(names)]
    for agreement in agreements:
        row = asdict(agreement)
        lines.append(",".join(f"{row[name]:.3f}" if isinstance(row[name], float) else str(row[name]) for name in names))
    write_shipped(FILE, "\n".join(lines) + "\n")


if __name__ == "__main__":
    write_agreements(sys.argv[1:])
