"""Published results from a file, or those that ship with the project, analysed anew."""

from __future__ import annotations

from pathlib import Path

from experiments.published.published_claims import PublishedAnalysis, analyse_published, parse_published
from experiments.published.published_csv import bundled_csv, parse_csv


def analyse_file(path: Path | None, baseline: str | None = None) -> PublishedAnalysis:
    """The analysis of a file, or of the tables that ship with the project.

    Raises:
        ValueError: the file cannot be read, or holds no results, or nobody in it is called `baseline`.
    """
    if path is None:
        return analyse_published(parse_csv(bundled_csv()), baseline)
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from None
    try:
        return analyse_published(parse_published(text, path.stem), baseline)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
