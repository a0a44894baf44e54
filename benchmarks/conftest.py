"""Print further results of benchmarks below their times: speeds, and ratios to comparators."""

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print a line for every benchmark with further results."""
    terminalreporter.section("speeds and ratios")
    for benchmark in config._benchmarksession.benchmarks:  # type: ignore[attr-defined]
        text = ", ".join(f"{name}: {value:.4g}" for name, value in benchmark.extra_info.items())
        if text:
            terminalreporter.write_line(f"{benchmark.name}: {text}")
