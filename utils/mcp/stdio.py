"""Message streams to an MCP server that runs as a program, with a limit on the size of a message.

The transport of the MCP package reads lines without a limit: a program that never ends a line would fill the memory.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

import anyio
import structlog
from mcp.client.stdio import get_default_environment
from mcp.os.win32.utilities import (
    create_windows_process,
    get_windows_executable_command,
    terminate_windows_process_tree,
)
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCMessage, JSONRPCRequest

from utils.mcp.http_failure import HttpFailure, as_response
from utils.mcp.json_text import message_of

if TYPE_CHECKING:
    from anyio.abc import ByteReceiveStream, ByteSendStream, Process
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

    from utils.mcp.config import McpServer

    Incoming = MemoryObjectReceiveStream[SessionMessage | Exception]
    Outgoing = MemoryObjectSendStream[SessionMessage]

log = structlog.get_logger(__name__)

_END_SECONDS = 2.0
"""How long a program may take to end after its input is closed, before it is terminated, and then before it is killed."""
_LOOK_SECONDS = 0.05
_LINE_END = b"\n"


@asynccontextmanager
async def stdio_streams(server: McpServer, most: int) -> AsyncGenerator[tuple[Incoming, Outgoing]]:
    """Start the program; leaving the block ends it and what it has started.

    Args:
        server: Its configuration, with a command.
        most: Bytes of one message.
    """
    process = await _started(server)
    assert process.stdout is not None
    assert process.stdin is not None
    to_session, incoming = anyio.create_memory_object_stream[SessionMessage | Exception]()
    outgoing, from_session = anyio.create_memory_object_stream[SessionMessage]()
    wire = _Wire(server.name, most)
    async with process, to_session, incoming, outgoing, from_session, anyio.create_task_group() as group:
        group.start_soon(wire.receive, process.stdout, to_session)
        group.start_soon(wire.send, from_session, process.stdin)
        try:
            yield incoming, outgoing
        finally:
            with anyio.CancelScope(shield=True):
                await _end(process)
            group.cancel_scope.cancel()


class _Wire:
    """Messages as lines, and the requests that wait for a response."""

    def __init__(self, server: str, most: int) -> None:
        self._server, self._most = server, most
        self._open: dict[str, int | str] = {}
        self._not_messages = 0

    async def receive(
        self, output: ByteReceiveStream, session: MemoryObjectSendStream[SessionMessage | Exception]
    ) -> None:
        """Pass on each message. At the limit reading ends, and each waiting request gets an error response."""
        async with session:
            try:
                async for line in self._lines(output):
                    await session.send(self._message(line))
            except _LineTooLong:
                log.warning("mcp.message_too_large", server=self._server, most=self._most)
                for number in list(self._open.values()):
                    failure = as_response(number, HttpFailure(largest=self._most))
                    await session.send(SessionMessage(JSONRPCMessage.model_validate(failure)))
            except (anyio.ClosedResourceError, anyio.BrokenResourceError):  # the session has ended
                await anyio.lowlevel.checkpoint()

    async def send(self, session: MemoryObjectReceiveStream[SessionMessage], inward: ByteSendStream) -> None:
        """Write each message of the session."""
        async with session:
            try:
                async for each in session:
                    if isinstance(each.message.root, JSONRPCRequest):
                        self._open[str(each.message.root.id)] = each.message.root.id
                    text = each.message.model_dump_json(by_alias=True, exclude_none=True)
                    await inward.send(text.encode() + _LINE_END)
            except (anyio.ClosedResourceError, anyio.BrokenResourceError):  # the program has ended
                await anyio.lowlevel.checkpoint()

    async def _lines(self, output: ByteReceiveStream) -> AsyncIterator[bytes]:
        held = bytearray()
        async for piece in output:
            *ends, rest = piece.split(_LINE_END)
            for end in ends:
                held += end
                self._check(held)
                yield bytes(held)
                held.clear()
            held += rest
            self._check(held)

    def _check(self, held: bytearray) -> None:
        if len(held) > self._most:
            raise _LineTooLong

    def _message(self, line: bytes) -> SessionMessage | Exception:
        try:
            message = message_of(line)
        except ValueError as error:
            self._note_no_message(len(line))
            return error
        self._open.pop(str(getattr(message.root, "id", "")), None)
        return SessionMessage(message)

    def _note_no_message(self, size: int) -> None:
        """Log the 1st, 2nd, 4th, 8th … line that is no message: a program that writes many would fill the disk with the log."""
        self._not_messages += 1
        if self._not_messages & (self._not_messages - 1) == 0:
            log.warning("mcp.not_a_message", server=self._server, size=size, count=self._not_messages)


class _LineTooLong(Exception):
    """A message is larger than the limit."""


async def _started(server: McpServer) -> Process:
    command, args = str(server.command), list(server.args)
    env = {**get_default_environment(), **server.env}
    if sys.platform == "win32":
        found = get_windows_executable_command(command)
        return await create_windows_process(found, args, env, sys.stderr, server.cwd)
    return await anyio.open_process(
        [command, *args],
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=sys.stderr,
        cwd=server.cwd,
        start_new_session=True,
    )


async def _end(process: Process) -> None:
    """End the program as MCP specifies: close its input, then signal its process tree, also if the program itself has ended."""
    if process.stdin is not None:
        with suppress(OSError, anyio.BrokenResourceError):
            await process.stdin.aclose()
    with anyio.move_on_after(_END_SECONDS):
        await process.wait()
    if sys.platform != "win32":
        await _end_group(process.pid)
    elif process.returncode is None:
        await terminate_windows_process_tree(process)


async def _end_group(group: int) -> None:
    """End the process group of a program, in which it has started others; they may outlive it."""
    for each in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError, PermissionError), anyio.move_on_after(_END_SECONDS):
            os.killpg(group, each)
            while True:
                await anyio.sleep(_LOOK_SECONDS)
                os.killpg(group, 0)
