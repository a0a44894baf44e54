"""Who may use the lab, and what received folders can do in it: other accounts and servers, hostile pages, links."""

import json
import stat

import pytest
from board_server import SECRETS, asked, cookie, request, serving
from played_games import write_run

from reports.board.request_guard import cookie_of, has_cookie
from reports.board.resources import Resources
from reports.lab import server as lab_server

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
