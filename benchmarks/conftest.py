"""Prints what benchmarks say beside their times: speeds, and ratios to what they are compared with."""

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """A line for every benchmark that has something to say."""
    terminalreporter.section("speeds and ratios")
    for benchmark in config._benchmarksession.benchmarks:  # type: ignore[attr-defined]
        text = ", ".join(f"{name}: {value:.4g}" for name, value in benchmark.extra_info.items())
        if text:
            terminalreporter.write_line(f"{benchmark.name}: {text}")
