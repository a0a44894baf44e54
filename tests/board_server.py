"""A running lab for tests."""

import threading
import time
from contextlib import contextmanager
from http.client import HTTPConnection

from knights_isolation.reports.board.board_api import cookie_of
from knights_isolation.reports.board.board_processes import USUAL_LIMITS
from knights_isolation.reports.lab.server import LabServer, listen

SECRETS = {}
"""The secrets of the servers that run, by port."""


@contextmanager
def serving(resources, limits=USUAL_LIMITS):
    """Serve in a thread; gives the port."""
    with listen(0) as listener:
        port = listener.getsockname()[1]
        server = LabServer(resources, port, limits)
        SECRETS[port] = server.secret
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        while not server.started:
            assert thread.is_alive(), "the server has not started"
            time.sleep(0.01)
        try:
            yield port
        finally:
            server.should_exit = True
            thread.join(timeout=10)


def cookie(port):
    """The cookie of a browser that was opened with the printed address."""
    return f"{cookie_of(port)}={SECRETS[port]}"


def request(port, path, body=None, method=None, **headers):
    """The status, the headers and the text of an answer to the owner's browser; underscores stand for hyphens."""
    return asked(port, path, body, method, **{**headers, "cookie": f"{cookie(port)}; {headers.get('cookie', '')}"})


def asked(port, path, body=None, method=None, **headers):
    """The same for anybody."""
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    if body is not None:
        given.setdefault("content-type", "application/json")
    connection.putrequest(method or ("GET" if body is None else "POST"), path, skip_host="host" in given)
    data = b"" if body is None else body
    if body is not None and "transfer-encoding" not in given:
        given.setdefault("content-length", str(len(data)))
    for name, value in given.items():
        connection.putheader(name, value)
    connection.endheaders()
    connection.send(data)
    answer = connection.getresponse()
    return answer.status, dict(answer.getheaders()), answer.read().decode()
