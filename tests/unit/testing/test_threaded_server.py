"""A threaded server stops whatever its clients left open, and says where it is where it cannot."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import AbstractContextManager

import pytest

from utils.testing import threaded_server as module
from utils.testing.live_server import loopback_socket
from utils.testing.threaded_server import threaded_server

pytestmark = pytest.mark.listens

REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


async def endless(_scope, _receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    while True:
        await send({"type": "http.response.body", "body": b"x" * 65536, "more_body": True})


async def short(_scope, _receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


def running() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "served"]


@pytest.mark.parametrize("app", [short, endless])
def test_a_server_stops_under_a_client_that_neither_reads_nor_closes(app):
    with loopback_socket() as listener:
        with (
            socket.create_connection(listener.getsockname()) as client,
            threaded_server(app, listener, name="served"),
        ):
            client.sendall(REQUEST)
            assert client.recv(100).startswith(b"HTTP/1.1 200")
        assert running() == []


def test_a_server_stops_whose_loop_waits_for_a_time_that_is_far_away(monkeypatch):
    """As a loop does that read the clock while a test had changed it."""
    monotonic = time.monotonic
    asked = threading.Event()

    def behind():
        if threading.current_thread().name != "served":
            return monotonic()
        asked.set()
        return monotonic() - 3600

    with loopback_socket() as listener:
        with threaded_server(short, listener, name="served"):
            with socket.create_connection(listener.getsockname()) as client:
                client.sendall(REQUEST)
                assert client.recv(100)
                monkeypatch.setattr(time, "monotonic", behind)
                assert asked.wait(10)
            monkeypatch.undo()
        assert running() == []


def test_an_application_that_holds_up_its_loop_fails_the_block_with_the_stack_of_the_thread(monkeypatch):
    monkeypatch.setattr(module, "STOP_SECONDS", 0.2)
    held, let_go = threading.Event(), threading.Event()

    async def holds_up_the_loop(_scope, _receive, _send):
        held.set()
        let_go.wait()

    with loopback_socket() as listener, socket.create_connection(listener.getsockname()) as client:
        with pytest.raises(
            RuntimeError, match=r"served did not stop within 0.2 s(.|\n)*in holds_up_the_loop"
        ):
            serve_until(held, client, threaded_server(holds_up_the_loop, listener, name="served"))
        (thread,) = (each for each in threading.enumerate() if each.name == "served")
        let_go.set()
        thread.join(10)
        assert not thread.is_alive()


def serve_until(held: threading.Event, client: socket.socket, server: AbstractContextManager[None]) -> None:
    with server:
        client.sendall(REQUEST)
        assert held.wait(10)
