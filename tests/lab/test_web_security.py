"""Who may use the lab, and what received folders can do in it: other accounts and servers, hostile pages, links."""

import json
import os
import shutil
import socket
import stat
from pathlib import Path

import pytest
from board_server import SECRETS, asked, cookie, request, serving
from invented_runs import Invented, gauntlet
from played_games import write_run

from knights_isolation.experiments.league.entries import LeagueEntries, write_book
from knights_isolation.experiments.plan.config import load_config
from knights_isolation.experiments.play.sandboxed_run import user_files
from knights_isolation.reports.board.board_api import cookie_of, has_cookie
from knights_isolation.reports.board.resources import Resources
from knights_isolation.reports.lab import server as lab_server

WRITES = "open({path!r}, 'w').close()\ndef score(game, player):\n    return 1.0\n"
POSITION = {"size": "7x7", "moves": [24, 14]}
GETS = (
    "/", "/?archive", "/board", "/heuristics", "/heuristics/improved", "/openings", "/try", "/class", "/lab.css",
    "/runs/played", "/runs/played/report", "/runs/played/events", "/runs/played/analysis", "/report?run=played",
    "/diff?before=played&after=played", "/class/played/index.html", "/lab/frame.js", "/static/app.js", "/api/start",
    "/api/ratings", "/api/runs/played/games", "/api/runs/played/games/0", "/api/puzzles/0", "/nothing", "//board",
    "/%2e%2e/board", "/static/../board", "/board?token=", "/board?token=x", "/board?token=%ff&token=x",
)  # fmt: skip
POSTS = {
    "/api/match": {"source": WRITES},
    "/api/trial": {"source": WRITES},
    "/api/see": {"first": "improved", "second": "open"},
    "/api/extend": {"run": "played", "contender": "Random", "pairs": 9},
    "/api/archive": {"runs": ["played"], "is_archived": True},
    "/api/move": {"position": POSITION, "agent": "random"},
    "/api/values": {"position": POSITION, "heuristics": ["improved"]},
    "/api/export": {"position": POSITION, "kind": "moves", "run": "played", "game": "0"},
}
FORBIDDEN = 403


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    home = tmp_path_factory.mktemp("web") / "runs"
    write_run(home / "played")
    return home


@pytest.fixture(scope="module")
def port(home):
    with serving(Resources(home=home)) as port:
        yield port


# Code from files plays in a sandbox


def test_only_runs_of_shipped_code_are_extended_outside_of_a_sandbox(tmp_path):
    def config(**keys):
        return load_config(None, {"format": "head-to-head", "baseline": "ID:improved", **keys})

    file = tmp_path / "mine.py"
    assert user_files(config(contenders=("ID:open", "MCTS@nodes=9"))) == ()
    assert user_files(config(contenders=("ID:open", f"A=ID:{file}:f"))) == (file,)
    assert user_files(config(contenders=("ID:open",), baseline=f"ID:{file}:f")) == (file,)
    for spec in (f"{file}:P@ms=9", f"apart:{file}:P@ms=9", "policy:os:abort"):
        with pytest.raises(ValueError, match="the lab plays heuristics only"):
            user_files(config(contenders=(spec,)))


# Another account of the machine has everything but the secret


@pytest.mark.parametrize("path", GETS)
@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS"])
def test_without_the_secret_nothing_is_read(port, method, path):
    status, headers, text = asked(port, path, method=method, accept="text/html")
    assert status == FORBIDDEN
    assert "set-cookie" not in headers
    assert SECRETS[port] not in text
    assert "played" not in text


@pytest.mark.parametrize("path", POSTS)
@pytest.mark.parametrize("place", ["nowhere", "the query", "another server's cookie", "a header"])
def test_without_the_cookie_nothing_is_done(port, home, tmp_path, path, place):
    written, before = tmp_path / "written", sorted(home.iterdir())
    body = json.dumps(POSTS[path]).replace("{path!r}", repr(str(written))).encode()
    given = {
        "nowhere": {},
        "the query": {},
        "another server's cookie": {"cookie": f"{cookie_of(port + 1)}={SECRETS[port]}"},
        "a header": {"authorization": f"token {SECRETS[port]}"},
    }[place]
    query = f"?token={SECRETS[port]}" if place == "the query" else ""
    assert asked(port, f"{path}{query}", body, **given)[0] == FORBIDDEN
    assert not written.exists()
    assert sorted(home.iterdir()) == before


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "TRACE", "POST"])
def test_the_secret_in_an_address_opens_pages_only(port, method):
    status, headers, _ = asked(port, f"/?token={SECRETS[port]}", method=method)
    assert (status, "set-cookie" in headers) == (FORBIDDEN, False)
    assert asked(port, f"/api/start?token={SECRETS[port]}")[0] == FORBIDDEN


def test_there_are_no_other_connections(port):
    upgrade = {
        "connection": "Upgrade",
        "upgrade": "websocket",
        "sec_websocket_version": "13",
        "sec_websocket_key": "eA==",
    }
    assert asked(port, "/api/start", **upgrade)[0] == FORBIDDEN


def test_the_secrets_of_two_servers_differ_and_one_does_not_open_the_other(port):
    with serving(Resources()) as other:
        assert SECRETS[other] != SECRETS[port]
        swapped = f"{cookie_of(other)}={SECRETS[port]}; {cookie(port)}"
        assert asked(other, "/api/start", cookie=swapped)[0] == FORBIDDEN
        assert asked(other, "/api/start", cookie=f"{cookie(port)}; {cookie(other)}")[0] == 200


@pytest.mark.parametrize("given", ["", "x", "{secret}x", "x{secret}", "{short}", "\xff", '"{secret}" '])
def test_only_the_whole_secret_counts(given):
    given = given.format(secret="secret", short="secre")
    assert has_cookie({"cookie": f"{cookie_of(80)}={given}"}, 80, "secret") == (given.strip() == '"secret"')


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example:{port}"},
        {"host": "127.0.0.1.evil.example:{port}"},
        {"origin": "http://evil.example"},
        {"origin": "http://127.0.0.1:1", "sec_fetch_site": "same-site"},
        {"origin": "null", "sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate"},
        {"content_type": "text/plain"},
        {"content_type": "application/x-www-form-urlencoded", "sec_fetch_site": "same-origin"},
    ],
)
def test_other_pages_do_nothing_with_the_cookie_either(port, headers):
    headers = {name: value.format(port=port) for name, value in headers.items()}
    assert request(port, "/api/move", json.dumps(POSTS["/api/move"]).encode(), **headers)[0] == FORBIDDEN


def test_the_printed_address_leads_to_the_page_by_a_cookie_that_scripts_and_other_sites_do_not_get(port):
    status, headers, text = asked(port, f"/board?token={SECRETS[port]}&x=1%26", sec_fetch_site="cross-site",
                                  sec_fetch_mode="navigate")  # fmt: skip
    assert status == 200
    assert 'content="0;url=/board?x=1%26"' in text
    assert SECRETS[port] not in text
    assert headers["referrer-policy"] == "no-referrer"
    name, *attributes = headers["set-cookie"].split("; ")
    assert name == cookie(port)
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(attributes)
    assert request(port, "/board")[0] == 200


def test_the_address_leads_nowhere_else(port):
    for path in ("//evil.example/", "/%2f%2fevil.example", "/\\evil.example"):
        assert "url=/evil" in asked(port, f"{path}?token={SECRETS[port]}")[2].replace("url=/%5C", "url=/")


def test_the_arguments_of_the_browser_do_not_have_the_secret(monkeypatch):
    opened, announced = [], []
    monkeypatch.setattr(lab_server.webbrowser, "open", opened.append)
    monkeypatch.setattr(lab_server.threading.Timer, "start", lambda timer: timer.function(*timer.args))
    with lab_server.serve_in_background(Resources(), "/board", announced.append):
        pass
    (address,), (file,) = announced, opened
    secret = address.partition("token=")[2]
    assert len(secret) > 40
    assert file.startswith("file://")
    assert secret not in file
    page = lab_server.Path(file.removeprefix("file://"))
    assert address in page.read_text()
    assert stat.S_IMODE(page.parent.stat().st_mode) == 0o700


# What a received folder holds is neither followed nor run

HOSTILE = """<!doctype html>
<html lang="en">
<head>
<meta http-equiv="Content-Security-Policy" content="default-src * 'unsafe-inline'">
<title>Analysis</title>
<meta http-equiv="refresh" content="0;url=/api/start">
<script>document.documentElement.dataset.ran = "inline"</script>
<script src="/lab/frame.js"></script>
<link rel="stylesheet" href="http://evil.example/x.css">
</head>
<body onload="document.documentElement.dataset.ran = 'event'"><main id="main">HOSTILE
<img src="x" onerror="document.documentElement.dataset.ran = 'image'">
<img src="http://evil.example/x.png"><iframe src="/api/start"></iframe><base href="http://evil.example/">
<form id="f" action="/api/match" method="post" enctype="text/plain"><button id="send">Send</button></form>
<a id="up" target="_top" href="/board">up</a> <a id="script" href="javascript:document.title='ran'">script</a>
<svg><script>document.documentElement.dataset.ran = "svg"</script></svg>
</main></body></html>
"""
ROUTES = (
    "/runs/{run}", "/runs/{run}/report", "/runs/{run}/events", "/runs/{run}/analysis", "/runs/{run}/analysis/page",
    "/report?run={run}", "/diff?before={run}&after={run}", "/class/{run}/index.html", "/class/{run}/secret.html",
    "/class/{run}/..%2fanalysis.html", "/api/runs/{run}/games", "/api/runs/{run}/games/0",
)  # fmt: skip


def linked(path, target):
    path.unlink(missing_ok=True)
    path.symlink_to(target)


def moved(path, target):
    shutil.move(path, target)
    path.symlink_to(target)


def listening(path):
    path.unlink(missing_ok=True)
    where = os.getcwd()
    os.chdir(path.parent)  # the name of a socket is short
    socket.socket(socket.AF_UNIX).bind(path.name)
    os.chdir(where)


def piped(path):
    path.unlink(missing_ok=True)
    os.mkfifo(path)


TRICKS = {
    "an absolute link as the page": lambda run, secret: linked(run / "analysis.html", secret),
    "a relative link as the page": lambda run, secret: linked(run / "analysis.html", "../../secret.html"),
    "a link as a page of the league": lambda run, secret: linked(run / "league" / "secret.html", secret),
    "a link as the facts": lambda run, secret: moved(run / "run.json", secret.with_name("run.json")),
    "a link as the games": lambda run, secret: moved(run / "games", secret.with_name("games")),
    "a link to a device": lambda run, secret: linked(run / "finished.json", "/dev/zero"),
    "a link to itself": lambda run, secret: linked(run / "loop", "."),
    "a link to nothing": lambda run, secret: linked(run / "config.toml", "/nonexistent"),
    "a pipe as the facts": lambda run, secret: piped(run / "run.json"),
    "a pipe as the lock": lambda run, secret: piped(run / "lock"),
    "a pipe as the page": lambda run, secret: piped(run / "analysis.html"),
    "a pipe in the log": lambda run, secret: piped(run / "games" / "games-9.parquet"),
    "a socket": lambda run, secret: listening(run / "lock"),
    "a link as the run": lambda run, secret: moved(run, secret.with_name("run")),
}


@pytest.fixture(scope="module")
def received(tmp_path_factory):
    """Runs that somebody else has prepared, one for each trick, and a folder with a page."""
    folder = tmp_path_factory.mktemp("received")
    secret = folder / "secret.html"
    secret.write_text("SECRET")
    for number, trick in enumerate(TRICKS.values()):
        run = gauntlet(1).write(folder / "runs" / f"trick{number}")
        (run / "league").mkdir()
        (folder / f"kept{number}").mkdir()
        (folder / f"kept{number}" / secret.name).write_text("SECRET")
        trick(run, folder / f"kept{number}" / secret.name)
    page = folder / "runs" / "sent" / "analysis.html"
    page.parent.mkdir()
    page.write_text(HOSTILE)
    (folder / "runs" / "elsewhere").mkdir()
    linked(folder / "runs" / "elsewhere" / "analysis.html", secret)
    (folder / "runs" / "outside").symlink_to(folder / "kept0")
    shutil.copy(page, folder / "kept0" / "analysis.html")
    made = Invented()
    for name in ("Good", "Bad"):
        settings = {"kind": "apart", "player": "a.py:<b>P</b>", "limit": {"cpu_ms": 150}}
        made.agent(name, "contender", method=None, heuristic=None, options=None, **settings)
    for opening in range(2):
        made.pair("Good", "Bad", opening, 2)
    league = made.write(folder / "runs" / "league")
    (league / "finished.json").write_text("{}")
    write_book(league, LeagueEntries((), ()))
    (league / "league").mkdir()
    (league / "league" / "index.html").write_text(HOSTILE)
    return folder / "runs"


@pytest.fixture(scope="module")
def visited(received):
    with serving(Resources(home=received)) as port:
        yield port


@pytest.mark.slow
@pytest.mark.parametrize("trick", TRICKS)
def test_links_pipes_and_devices_in_a_run_are_not_opened(visited, trick):
    run = f"trick{list(TRICKS).index(trick)}"
    for route in ROUTES:
        status, _, text = request(visited, route.format(run=run))
        assert status in (400, 404, 409), route
        assert "SECRET" not in text
    for path, question in POSTS.items():
        if {"run", "runs"} & question.keys():
            named = {key: run if key == "run" else [run] for key in ("run", "runs") if key in question}
            status, _, text = request(visited, path, json.dumps({**question, **named}).encode())
            assert (status, "SECRET" in text) == (200 if path == "/api/export" else 400, False), path
    shown = request(visited, "/")[2]
    assert f">{run}<" in shown
    assert "is not a file, and links are not followed" in shown


def test_no_page_behind_a_link_is_shown(visited):
    for name in ("elsewhere", "outside"):
        assert request(visited, f"/runs/{name}/analysis/page")[0] == 404
        assert f"/runs/{name}/analysis" not in request(visited, "/")[2]


def test_the_policy_of_a_page_is_the_servers_and_gives_it_no_script_and_no_origin(visited):
    status, headers, text = request(visited, "/runs/sent/analysis")
    assert status == 200
    assert "HOSTILE" not in text
    assert '<iframe class="kept" sandbox="allow-downloads"' in text
    status, headers, text = request(visited, "/runs/sent/analysis/page")
    assert (status, "HOSTILE" in text) == (200, True)
    policy = headers["content-security-policy"].split("; ")
    assert policy[0] == "sandbox allow-downloads"
    assert "default-src 'none'" in policy
    assert not [part for part in policy if part.startswith(("script-src", "connect-src"))]


@pytest.mark.slow
def test_the_pages_of_a_league_are_made_of_its_data(visited):
    status, headers, text = request(visited, "/class/league/index.html")
    assert status == 200, text
    assert "League: league" in text
    assert "HOSTILE" not in text
    assert "*" not in headers["content-security-policy"]
    assert "script-src 'self' 'sha256-" in headers["content-security-policy"]
    assert request(visited, "/class/league/player-Good.html")[0] == 200
    for name in ("secret.html", "..%2frun.json", "player-Nobody.html", "INDEX.HTML"):
        assert request(visited, f"/class/league/{name}")[0] == 404


CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.fixture(scope="module")
def browser():
    driver = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed: pip install -e .[dev]")
    if CHROMIUM is None:
        pytest.skip("no Chromium is installed: apt-get install chromium")
    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    with driver.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, headless=True, args=flags)
        yield browser
        browser.close()


@pytest.fixture
def page(browser, visited):
    """A page of a browser that has the cookie; `asked` lists what it asks for."""
    context = browser.new_context()
    name, _, secret = cookie(visited).partition("=")
    context.add_cookies([{"name": name, "value": secret, "domain": "127.0.0.1", "path": "/", "sameSite": "Strict"}])
    page = context.new_page()
    page.asked = []
    page.on("request", lambda request: page.asked.append(request.url.removeprefix(f"http://127.0.0.1:{visited}")))
    yield page
    context.close()


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/runs/sent/analysis", "/runs/sent/analysis/page"])
def test_a_hostile_page_runs_and_sends_nothing_in_a_browser(page, visited, received, path):
    before = sorted(received.iterdir())
    page.goto(f"http://127.0.0.1:{visited}{path}")
    frame = page.frame(url="**/page")
    assert "HOSTILE" in frame.locator("main").inner_text()
    for name in ("#send", "#script", "#up") if frame != page.main_frame else ("#send", "#script"):
        frame.locator(name).click(timeout=5000, no_wait_after=True)
    page.wait_for_load_state("networkidle")
    assert frame.locator("html").get_attribute("data-ran") is None
    assert page.title() != "ran"
    assert not [url for url in page.asked if url.startswith(("http", "/api", "/board")) and "evil" not in url]
    assert sorted(received.iterdir()) == before


@pytest.mark.slow
def test_the_address_in_a_file_opens_the_lab_in_a_browser_and_a_copy_of_the_page_without_it_does_not(
    browser, visited, tmp_path
):
    context = browser.new_context()
    page = context.new_page()
    assert page.goto(f"http://127.0.0.1:{visited}/board").status == FORBIDDEN
    file = Path(tmp_path / "lab.html")
    file.write_text(lab_server.leading_to(f"http://127.0.0.1:{visited}/board?token={SECRETS[visited]}"))
    page.goto(file.as_uri())
    page.wait_for_url(f"http://127.0.0.1:{visited}/board")
    page.locator("#board button").first.wait_for()
    assert page.evaluate("document.cookie") == ""
    assert page.evaluate("document.referrer") in ("", f"http://127.0.0.1:{visited}/")
    context.close()
