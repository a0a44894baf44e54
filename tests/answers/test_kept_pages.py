"""Kept pages are listed with their titles, the latest first."""

import os

from knights_isolation.reports.pages.templates import PAGE, kept_pages


def test_pages_are_listed_by_title_or_else_by_folder_the_latest_first(tmp_path):
    heads = {"titled": "<title>own &amp; other</title>", "plain": "<p>no title</p>"}
    for written, (name, head) in enumerate(heads.items(), start=1):
        (tmp_path / name).mkdir()
        (tmp_path / name / PAGE).write_text(head, encoding="utf-8")
        os.utime(tmp_path / name / PAGE, (written, written))
    listed = kept_pages({name: tmp_path / name for name in (*heads, "missing")})
    assert [(page.run, page.title, page.written) for page in listed] == [
        ("plain", "plain", 2.0),
        ("titled", "own & other", 1.0),
    ]
