"""Which file of a folder or an archive is the submission, and what is refused, with the reason."""

import gzip
import io
import os
import tarfile
import zipfile
from pathlib import Path

import pytest
from submissions import HONEST, THIRD, submit

from knights_isolation.experiments.league import submissions
from knights_isolation.experiments.league.entries import code_hash_without_layout
from knights_isolation.experiments.league.submissions import ArchiveError, find_submissions, unpack
from knights_isolation.isolation.compiling import code_cache

PLAYER = HONEST.format(prefers="0")
OTHER = HONEST.format(prefers="1")
TEMPLATES = (
    *("sample_players.py", "competition_agent.py", "agent_test.py", "tournament.py", "run_match.py"),
    *("test_game_agent.py", "game_agent_test.py", "player_submission_tests.py"),
)


def files_of(home: Path) -> dict[str, str]:
    """The file that plays for each submission."""
    return {player.name: player.file.name for player in find_submissions(home).players}


def whys(home: Path) -> dict[str, str]:
    """Why what does not play does not."""
    return {skipped.name: skipped.why for skipped in find_submissions(home).skipped}


def zipped(path: Path, **members: str) -> Path:
    """A zip archive; two underscores of a name are a slash, one is a dot."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in members.items():
            archive.writestr(f"{name.replace('__', '/')}.py", text)
    return path


def tarred(path: Path, *members: tarfile.TarInfo | str, text: str = PLAYER, mode: str = "w") -> Path:
    """A tar archive of files with the same text, or of other members."""
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for member in members:
            info = tarfile.TarInfo(member) if isinstance(member, str) else member
            info.size = len(text) if info.isreg() else 0
            archive.addfile(info, io.BytesIO(text.encode()) if info.isreg() else None)
    return path


# The file that plays


def test_a_file_that_does_not_parse_is_refused_whatever_lies_beside_it(tmp_path: Path) -> None:
    submit(tmp_path, "usual", "class CustomPlayer:\n    def get_move(self, game, time_left)\n")
    submit(tmp_path, "usual", PLAYER, "sample_players.py")
    submit(tmp_path, "usual", PLAYER, "helper.py")
    submit(tmp_path, "unusual", "print 'Python 2'\n", "mine.py")
    submit(tmp_path, "unusual", PLAYER, "theirs.py")
    assert files_of(tmp_path) == {}
    assert whys(tmp_path)["usual"] == "game_agent.py is not Python: line 2: expected ':'"
    why = whys(tmp_path)["unusual"]
    assert why.startswith("mine.py is not Python: line 1: Missing parentheses")
    assert why.endswith("; if it is not the submission, call that game_agent.py")


@pytest.mark.parametrize("template", TEMPLATES)
def test_files_of_templates_never_play(tmp_path: Path, template: str) -> None:
    submit(tmp_path, "beside", PLAYER)
    submit(tmp_path, "alone", PLAYER, template)
    submit(tmp_path, "named", PLAYER, "mine.py")
    for name in ("beside", "named"):
        submit(tmp_path, name, OTHER, template)
    assert files_of(tmp_path) == {"beside": "game_agent.py", "named": "mine.py"}
    only = f"has only files of the course's template ({template}): call the submission game_agent.py"
    assert whys(tmp_path) == {"alone": only}


def test_of_several_files_that_could_play_none_does(tmp_path: Path) -> None:
    submit(tmp_path, "editions", PLAYER)
    submit(tmp_path, "editions", THIRD, "my_custom_player.py")
    submit(tmp_path, "versions", PLAYER)
    submit(tmp_path, "versions", OTHER, "old/game_agent.py")
    submit(tmp_path, "unusual", PLAYER, "a.py")
    submit(tmp_path, "unusual", OTHER, "b.py")
    submit(tmp_path, "copies", PLAYER)
    submit(tmp_path, "copies", PLAYER, "copy/game_agent.py")
    assert files_of(tmp_path) == {"copies": "game_agent.py"}
    several = "has several files that may be the submission ({}): remove or rename all but one"
    assert whys(tmp_path) == {
        "editions": several.format("game_agent.py, my_custom_player.py"),
        "versions": several.format("game_agent.py, old/game_agent.py"),
        "unusual": "has several files with a player (a.py, b.py): rename the one that plays game_agent.py",
    }


def test_a_file_of_the_usual_name_is_the_submission_even_without_a_player(tmp_path: Path) -> None:
    submit(tmp_path, "ada", "def custom_score(game, player): return 0.0\n")
    submit(tmp_path, "ada", PLAYER, "other.py")
    assert files_of(tmp_path) == {}
    assert whys(tmp_path)["ada"].startswith("game_agent.py has no class with a method get_move or get_action: define ")


def test_hidden_copies_do_not_play(tmp_path: Path) -> None:
    submit(tmp_path, "ada", PLAYER)
    submit(tmp_path, "ada", "\0\5", "._game_agent.py")
    submit(tmp_path, "ada", OTHER, "__MACOSX/game_agent.py")
    submit(tmp_path, "ada", OTHER, ".ipynb_checkpoints/game_agent.py")
    assert files_of(tmp_path) == {"ada": "game_agent.py"}


def test_whatever_lies_beside_the_submissions_is_named(tmp_path: Path) -> None:
    submit(tmp_path, "ada", PLAYER)
    for name in (".DS_Store", "grades.xlsx", "ben.rar", "cleo.py"):
        (tmp_path / name).write_text("")
    os.mkfifo(tmp_path / "pipe")
    zipped(tmp_path / "ada.zip", game_agent=PLAYER)
    skipped = {
        skipped_file.name: (skipped_file.why, skipped_file.is_submission)
        for skipped_file in find_submissions(tmp_path).skipped
    }
    assert skipped == {
        ".DS_Store": ("is hidden", False),
        "grades.xlsx": ("is not a folder", False),
        "pipe": ("is neither a folder nor a file", False),
        "ada.zip": ("is not opened, since the folder ada lies beside it", False),
        "ben.rar": ("is an archive of a kind that is not opened: unpack it into a folder", True),
        "cleo.py": ("is not in its own folder: move it into one named after its author", True),
    }


# Identical code


def test_code_is_the_same_but_for_comments_docstrings_and_layout(tmp_path: Path) -> None:
    commented = PLAYER.replace("        return", '        """The best."""\n\n        # mine\n        return')
    same = commented.replace("(0)", "( 0 )")
    files = {name: submit(tmp_path, name, source) for name, source in (("a", PLAYER), ("b", same), ("c", OTHER))}
    hashes = {name: code_hash_without_layout(file) for name, file in files.items()}
    assert hashes["a"] == hashes["b"] != hashes["c"]
    importing = f"from helper import weight\n{PLAYER}"
    for name, weight in (("d", 1), ("e", 2), ("f", 1)):
        files[name] = submit(tmp_path, name, importing)
        submit(tmp_path, name, f"weight = {weight}\n", "helper.py")
    hashes = {name: code_hash_without_layout(file) for name, file in files.items()}
    assert hashes["d"] == hashes["f"] != hashes["e"]


# Archives


def test_archives_play_as_folders_of_their_name_do(tmp_path: Path) -> None:
    zipped(tmp_path / "ada.zip", project__game_agent=PLAYER, project__sample_players=OTHER)
    tarred(tmp_path / "ben.tar", "./", "./my_custom_player.py", text=THIRD)
    tarred(tmp_path / "cleo.tar.gz", "game_agent.py", mode="w:gz")
    tarred(tmp_path / "dora.tgz", "a/b/game_agent.py", mode="w:gz")
    (tmp_path / "emil").mkdir()
    zipped(tmp_path / "emil" / "handed in.zip", game_agent=PLAYER)
    submissions = find_submissions(tmp_path)
    assert submissions.skipped == ()
    assert files_of(tmp_path) == {
        "ada": "game_agent.py", "ben": "my_custom_player.py", "cleo": "game_agent.py", "dora": "game_agent.py",
        "emil": "game_agent.py",
    }  # fmt: skip
    assert {player.file.read_text() for player in submissions.players} == {PLAYER, THIRD}
    assert not any(player.is_renamed for player in submissions.players)


def test_an_archive_keeps_its_place_and_is_unpacked_again_when_it_changes(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "ada.zip", game_agent=PLAYER, helper="")
    folder = unpack(archive)
    assert (folder / "helper.py").exists()
    assert folder.is_relative_to(code_cache.folder())
    zipped(archive, game_agent=OTHER)
    assert unpack(archive) == folder
    assert [file.read_text() for file in folder.iterdir()] == [OTHER]


def member(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


@pytest.mark.parametrize(
    ("members", "why"),
    [
        (["../game_agent.py"], "holds the path ../game_agent.py, which leads out of it"),
        (["a/../../game_agent.py"], "holds the path a/../../game_agent.py, which leads out of it"),
        (["/tmp/game_agent.py"], "holds the path /tmp/game_agent.py, which leads out of it"),
        (["C:\\game_agent.py"], "which leads out of it"),
        (["..\\game_agent.py"], "which leads out of it"),
        ([member("up", tarfile.SYMTYPE, "..")], "holds up, a link or a device"),
        ([member("in", tarfile.LNKTYPE, "game_agent.py")], "holds in, a link or a device"),
        ([member("pipe", tarfile.FIFOTYPE)], "holds pipe, a link or a device"),
        ([member("null", tarfile.CHRTYPE)], "holds null, a link or a device"),
        (["game_agent.py", "game_agent.py"], "cannot be unpacked (File exists): unpack it by hand"),
        (["/".join("abcdefghijk")], "holds folders more than 10 deep"),
        ([f"{number}.py" for number in range(2_001)], "holds more than 2,000 files and folders"),
    ],
)
def test_archives_that_lead_astray_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, members: list[tarfile.TarInfo | str], why: str
) -> None:
    monkeypatch.setattr(code_cache, "folder", lambda: tmp_path / "cache")
    home = tmp_path / "class"
    home.mkdir()
    tarred(home / "ada.tar", "game_agent.py", *members)
    assert why in whys(home)["ada.tar"]
    assert {entry.name for entry in tmp_path.iterdir()} <= {"class", "cache"}
    assert not list((tmp_path / "cache").rglob("*.py"))


def test_a_zip_with_a_link_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "ada.zip", "w") as archive:
        link = zipfile.ZipInfo("game_agent.py")
        link.create_system, link.external_attr = 3, 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
        archive.writestr("../game_agent.py", PLAYER)
    assert whys(tmp_path) == {"ada.zip": "holds game_agent.py, a link or a device: ask for another archive"}


def test_archives_that_would_fill_the_disk_or_the_memory_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(submissions, "LARGEST_CONTENT", 100_000)
    monkeypatch.setattr(submissions, "LARGEST_ARCHIVE", 20_000)
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("game_agent.py", " " * 200_000)
    (tmp_path / "bomb.tar.gz").write_bytes(gzip.compress(bytes(200_000)))
    (tmp_path / "large.zip").write_bytes(bytes(20_001))
    lying = bytearray((tmp_path / "bomb.zip").read_bytes())
    table = lying.rindex(b"PK\1\2")
    lying[table + 24 : table + 28] = (10).to_bytes(4, "little")
    (tmp_path / "lies.zip").write_bytes(lying)
    (tmp_path / "damaged.zip").write_bytes(b"PK nothing")
    (tmp_path / "damaged.tgz").write_bytes(b"nothing")
    for name, why in (
        ("bomb.zip", "holds more than 100,000 bytes"),
        ("bomb.tar.gz", "holds more than 100,000 bytes"),
        ("large.zip", "is larger than 20,000 bytes"),
        ("lies.zip", "cannot be unpacked"),
        ("damaged.zip", "cannot be unpacked"),
        ("damaged.tgz", "cannot be read"),
    ):
        with pytest.raises(ArchiveError, match=f"^{why}.*: (unpack it by hand, or )?ask for another archive$"):
            unpack(tmp_path / name)


def test_archives_that_are_not_opened_say_what_to_do(tmp_path: Path) -> None:
    submit(tmp_path, "ada", PLAYER)
    zipped(tmp_path / "ada.zip", game_agent=OTHER)
    submit(tmp_path, "ben", OTHER, "sample_players.py")
    zipped(tmp_path / "ben.zip", game_agent=PLAYER)
    for name in ("one.zip", "two.zip"):
        (tmp_path / "cleo").mkdir(exist_ok=True)
        zipped(tmp_path / "cleo" / name, game_agent=PLAYER)
    (tmp_path / "dora").mkdir()
    (tmp_path / "dora" / "project.7z").write_text("")
    zipped(tmp_path / "emil.zip", game_agent=PLAYER)
    tarred(tmp_path / "emil.tar", "game_agent.py")
    assert {player.name: player.file.read_text() for player in find_submissions(tmp_path).players} == {
        "ada": PLAYER, "emil": PLAYER,
    }  # fmt: skip
    why = whys(tmp_path)
    assert why["ada.zip"] == "is not opened, since the folder ada lies beside it"
    assert why["ben"].endswith("but ben.zip lies beside it: unpack it there")
    assert why["cleo"] == "has no Python file, but several archives (one.zip, two.zip): unpack the right one there"
    assert why["dora"] == "has no Python file, but project.7z: unpack it there"
    assert why["emil.zip"] == "is another archive of that name beside emil.tar: remove one of them"
