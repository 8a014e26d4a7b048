"""Embedding servers that never answer, never end, or fail for a moment; each a real one on loopback."""

import asyncio
import os
import threading
from contextlib import contextmanager, suppress

import pytest

from tests.preloaded import process as preloaded
from tests.preloaded.process import ROOT
from utils.embeddings import create_embedder
from utils.embeddings.remote import LARGEST_ANSWER
from utils.errors import InvalidRequest, ModelSlow, ModelUnavailable
from utils.net.bounded import MIB
from utils.settings import EmbeddingSettings
from utils.testing.live_server import loopback_socket

pytestmark = pytest.mark.listens

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
BUSY = (
    b"HTTP/1.1 503 Busy\r\nContent-Length: 2\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n{}"
)
VECTOR = b'{"object":"list","model":"m","data":[{"object":"embedding","index":0,"embedding":[3,4]}],"usage":{"prompt_tokens":1,"total_tokens":1}}'
ANSWER = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%b"
    % (len(VECTOR), VECTOR)
)
PIECE = b"10000\r\n" + b" " * 65_536 + b"\r\n"


class Server:
    """Does with each connection what a test says, and counts."""

    def __init__(self, talk):
        self.talk, self.asked, self.sent, self.open = talk, 0, 0, []
        self.reached, self.closed = threading.Event(), threading.Event()

    def serve(self, listener):
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            self.open.append(connection)
            threading.Thread(target=self._talk, args=(connection,), daemon=True).start()

    def _talk(self, connection):
        with suppress(OSError):
            request = connection.recv(1_000_000)
            while request and b"\r\n\r\n" not in request:
                request += connection.recv(1_000_000)
            self.asked += 1
            self.reached.set()
            self.talk(self, connection)


def silent(server, connection):
    while connection.recv(1_000_000):
        pass
    server.closed.set()


def endless(server, connection):
    connection.sendall(HEAD)
    while True:
        connection.sendall(PIECE)
        server.sent += 65_536


def busy_at_first(server, connection):
    connection.sendall(BUSY if server.asked < 3 else ANSWER)
    connection.close()


@contextmanager
def serving(talk):
    server = Server(talk)
    with loopback_socket() as listener:
        thread = threading.Thread(target=server.serve, args=(listener,), daemon=True)
        thread.start()
        try:
            yield server, f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            listener.shutdown(2)
            for connection in server.open:
                with suppress(OSError):
                    connection.shutdown(2)
                connection.close()
            thread.join()


def compatible(url, **more):
    return {
        "EMBEDDINGS_PROVIDER": "openai-compatible",
        "EMBEDDINGS_BASE_URL": f"{url}/v1",
        "EMBEDDINGS_MODEL": "m",
        **more,
    }


def azure(url, **more):
    return {
        "EMBEDDINGS_PROVIDER": "azure-openai",
        "AZURE_OPENAI_ENDPOINT": url,
        "AZURE_OPENAI_API_KEY": "k",
        "EMBEDDINGS_MODEL": "m",
        **more,
    }


def bedrock(url, **more):
    return {
        "EMBEDDINGS_PROVIDER": "aws-bedrock",
        "AWS_REGION": "eu-central-1",
        "AWS_ACCESS_KEY_ID": "k",
        "AWS_SECRET_ACCESS_KEY": "s",
        "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": url,
        **more,
    }


def made(variables):
    embedder = create_embedder(EmbeddingSettings.load(variables), cache=None)
    assert embedder is not None
    return embedder


@pytest.mark.parametrize("provider", [compatible, azure, bedrock])
async def test_a_server_that_never_answers_is_given_up_after_the_set_time(provider):
    with serving(silent) as (server, url):
        with pytest.raises(ModelSlow, match="EMBEDDINGS_TIMEOUT_SECONDS"):
            await made(provider(url, EMBEDDINGS_TIMEOUT_SECONDS="0.3")).embed(["text"])
        assert server.asked <= 1  # on a busy machine the time may be over before


def test_a_plain_thread_is_not_held_longer_either():
    with serving(silent) as (_, url), pytest.raises(ModelSlow):
        made(compatible(url, EMBEDDINGS_TIMEOUT_SECONDS="0.3")).embed_sync(["text"])


@pytest.mark.parametrize("provider", [compatible, bedrock])
async def test_searches_that_wait_for_a_server_take_no_thread_of_everybody_else(provider):
    with serving(silent) as (server, url):
        embedder = made(provider(url))
        searches = [asyncio.create_task(embedder.embed([f"text {n}"])) for n in range(40)]
        assert await asyncio.to_thread(server.reached.wait, 60)
        assert [await asyncio.to_thread(lambda: True) for _ in range(40)] == [True] * 40
        assert not any(search.done() for search in searches)
        for search in searches:
            search.cancel()
        await asyncio.gather(*searches, return_exceptions=True)


async def test_a_search_that_is_given_up_leaves_the_server_too():
    with serving(silent) as (server, url):
        search = asyncio.create_task(made(compatible(url)).embed(["text"]))
        assert await asyncio.to_thread(server.reached.wait, 60)
        search.cancel()
        assert await asyncio.to_thread(server.closed.wait, 60)


@pytest.mark.processes
@pytest.mark.parametrize("provider", [compatible, bedrock])
def test_a_process_ends_while_a_server_still_says_nothing(provider):
    code = (
        "import asyncio, os\nfrom utils.embeddings import create_embedder\nfrom utils.settings import EmbeddingSettings\n"
        "async def main():\n"
        "    embedder = create_embedder(EmbeddingSettings.load(dict(os.environ)), cache=None)\n"
        "    try:\n"
        "        async with asyncio.timeout(0.3): await embedder.embed(['text'])\n"
        "    except TimeoutError: print('given up')\n"
        "asyncio.run(main())\n"
    )
    with serving(silent) as (_, url):
        env = {**os.environ, "PYTHONPATH": str(ROOT), **provider(url, EMBEDDINGS_TIMEOUT_SECONDS="3600")}
        ended = preloaded.run(["-c", code], cwd=ROOT, env=env, timeout=60)
    assert (ended.returncode, ended.stdout.strip(), ended.stderr) == (0, "given up", "")


@pytest.mark.parametrize("provider", [compatible, azure, bedrock])
async def test_an_answer_without_end_is_cut_off(provider):
    with serving(endless) as (server, url):
        with pytest.raises(InvalidRequest, match="more than"):
            await made(provider(url)).embed(["text"])
        assert server.sent < LARGEST_ANSWER + 16 * MIB
        assert server.asked == 1


async def test_a_server_that_is_busy_for_a_moment_is_asked_again():
    with serving(busy_at_first) as (server, url):
        assert (await made(compatible(url)).embed(["text"])).tolist() == [
            [pytest.approx(0.6), pytest.approx(0.8)]
        ]
        assert server.asked == 3


async def test_a_server_that_stays_busy_is_asked_three_times():
    with serving(lambda _, connection: (connection.sendall(BUSY), connection.close())) as (server, url):
        with pytest.raises(ModelUnavailable):
            await made(compatible(url)).embed(["text"])
        assert server.asked == 3
