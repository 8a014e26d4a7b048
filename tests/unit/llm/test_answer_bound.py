"""A gateway that sends without end, or packs gigabytes in kilobytes, fills no memory: the call fails, and says why."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

import pytest
from langchain_core.language_models import BaseChatModel

from tests.rows import mostly_long
from utils.errors import InvalidRequest
from utils.llm.answer_bound import ENDLESS, LARGEST_STREAM
from utils.llm.classify import classify
from utils.llm.factory import create_chat_model
from utils.net.bounded import LARGEST_BODY, LARGEST_EVENT
from utils.settings import LLMSettings

pytestmark = pytest.mark.listens

PIECE = 1024 * 1024
DATA = b"data: {" + b" " * 16_000 + b"}\n\n"
PING = b":" + b" " * 16_000 + b"\n\n"

OPENAI = {"LLM_PROVIDER": "openai", "OPENAI_API_KEY": "k"}
RESPONSES = {**OPENAI, "LLM_REASONING_EFFORT": "low"}
COMPATIBLE = {"LLM_PROVIDER": "openai-compatible"}
AZURE = {"LLM_PROVIDER": "azure-openai", "AZURE_OPENAI_API_KEY": "k"}
ANTHROPIC = {"LLM_PROVIDER": "anthropic", "ANTHROPIC_API_KEY": "k"}
GEMINI = {"LLM_PROVIDER": "google-gemini", "GOOGLE_API_KEY": "k"}
PROVIDERS = [OPENAI, RESPONSES, COMPATIBLE, AZURE, ANTHROPIC, GEMINI]
ADDRESSES = ("OPENAI_BASE_URL", "AZURE_OPENAI_ENDPOINT", "ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL")


def endless_event() -> AsyncIterator[bytes]:
    return pieces(b"data: ", b" " * PIECE, LARGEST_EVENT)


def endless_data() -> AsyncIterator[bytes]:
    """Events that hold something: the client of Gemini takes no comment."""
    return pieces(b"", DATA * (PIECE // len(DATA)), LARGEST_STREAM)


def endless_events() -> AsyncIterator[bytes]:
    return pieces(b"", PING * (PIECE // len(PING)), LARGEST_STREAM)


def endless_body() -> AsyncIterator[bytes]:
    return pieces(b"{", b" " * PIECE, LARGEST_BODY)


async def pieces(begin: bytes, piece: bytes, most: int) -> AsyncIterator[bytes]:
    """A little more than is taken."""
    yield begin
    for _ in range(most // PIECE + 1):
        yield piece
    yield PING


@asynccontextmanager
async def gateway(
    media_type: str, body: Callable[[], AsyncIterator[bytes]], *, packed: bool = False
) -> AsyncIterator[str]:
    """A server that answers everything with this."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        head = f"HTTP/1.1 200 OK\r\ncontent-type: {media_type}\r\nconnection: close\r\n"
        writer.write((head + ("content-encoding: gzip\r\n" if packed else "") + "\r\n").encode())
        packer = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
        with suppress(ConnectionError):
            async for piece in body():
                writer.write(packer.compress(piece) if packed else piece)
                await writer.drain()
            writer.write(packer.flush() if packed else b"")
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


def model_at(url: str, environ: dict[str, str]) -> BaseChatModel:
    addresses = dict.fromkeys(ADDRESSES, url)
    return create_chat_model(LLMSettings.load({"LLM_MODEL": "m", **addresses, **environ}))


STREAMS = [
    *((environ, endless_event) for environ in PROVIDERS),
    *((environ, endless_data if environ is GEMINI else endless_events) for environ in PROVIDERS),
]


@pytest.mark.parametrize("case", mostly_long(STREAMS, 6), ids=lambda case: f"{case[0]}-{case[1].__name__}")
async def test_a_stream_without_end_ends_the_call(
    case: tuple[dict[str, str], Callable[[], AsyncIterator[bytes]]],
) -> None:
    environ, body = case
    async with gateway("text/event-stream", body) as url:
        with pytest.raises(Exception) as raised:
            async for _ in model_at(url, environ).astream("Hello."):
                pass
    failure = classify(raised.value)
    assert isinstance(failure, InvalidRequest)
    assert str(failure) == ENDLESS


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("environ", mostly_long(PROVIDERS, 6), ids=str)
async def test_a_body_without_end_ends_the_call(environ: dict[str, str], packed: bool) -> None:
    async with gateway("application/json", endless_body, packed=packed) as url:
        with pytest.raises(Exception) as raised:
            await model_at(url, environ).ainvoke("Hello.")
    failure = classify(raised.value)
    assert isinstance(failure, InvalidRequest)
    assert str(failure) == ENDLESS
