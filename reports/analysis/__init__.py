"""Answers about files: `analyse`, as text, Markdown and a page; `try`, `eval`, `heuristics`, `test-agent`, `ci`."""
