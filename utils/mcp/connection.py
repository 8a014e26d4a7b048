"""Connection to one MCP server: connects and reconnects in the background; callable from any task."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import anyio
import structlog
from pydantic import ValidationError

from utils.errors import PlatformError, ToolTimeout, UpstreamRefused, UpstreamUnavailable
from utils.mcp.call import call_tool
from utils.mcp.config import McpServer
from utils.mcp.http_failure import NOT_FOUND, HttpFailure, failure_in
from utils.mcp.results import unknown_result
from utils.mcp.transport import transport_of
from utils.mcp.trouble import reason_of
from utils.mcp.words import quoted
from utils.net.bounded import LARGEST_BODY
from utils.timing import backoff

if TYPE_CHECKING:
    from mcp import ClientSession, types
    from mcp.shared.exceptions import McpError

log = structlog.get_logger(__name__)

Changed = Callable[[], Awaitable[None]]

START_SECONDS = 30.0
"""Timeout of the initialization of a session and of its list of tools."""
PING_SECONDS = 30.0
LISTING_SECONDS = 1.0
"""Shortest time between two listings of a server's tools."""
NOT_YET = "it has not answered yet"
"""Why the agent does not have the tools of a server that is still being connected to."""
_STOP_SECONDS = 5.0
_ANSWER_SECONDS = 5.0
_MOST_PAGES = 20
_LONGEST_MESSAGE = 500
_LOST = "was lost during the call"
_LOST_WITH = frozenset({None, 400, 401})
"""Statuses of a ping that mean a lost session: no response, or what many servers send for an unknown session."""

_CLOSED = (-32000, "Connection closed")
_TERMINATED = (32600, "Session terminated")
"""Code and message of errors that the client creates itself."""


class Connection:
    """A server and its session. One task opens, watches and closes the session.

    Args:
        server: Its configuration.
        changed: Called when its list of tools has changed.
        pause: Seconds before the second attempt to connect; doubles up to `LONGEST_WAIT`.
        most: Bytes of the largest message that is accepted from the server.
        between: Seconds between two listings of its tools, however often it reports a change.

    Attributes:
        tools: The server's tools.
        trouble: Why the agent does not have its tools, for an operator; empty while it does.
        refusing: Why it accepts no requests although it is connected, for an operator; empty while it does.
    """

    def __init__(
        self,
        server: McpServer,
        changed: Changed,
        *,
        pause: float = 1.0,
        most: int = LARGEST_BODY,
        between: float = LISTING_SECONDS,
    ) -> None:
        self.server = server
        self.tools: Sequence[types.Tool] = ()
        self._unknown: frozenset[str] = frozenset()
        self.trouble = NOT_YET
        self.refusing = ""
        self.tried = asyncio.Event()
        self._changed = changed
        self._pause, self._most, self._between = pause, most, between
        self._session: ClientSession | None = None
        self._connected = asyncio.Event()
        self._gone = asyncio.Event()
        self._wake = asyncio.Event()
        self._stale = self._due = False
        self._listed_at = -between
        self._closing = False
        self._failures = 0
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start connecting in the background."""
        self._task = asyncio.create_task(self._keep())

    async def stop(self) -> None:
        """Close the session and the process that it started."""
        task, self._task, self._closing = self._task, None, True
        if task is None:
            return
        self._wake.set()
        await asyncio.wait([task], timeout=_STOP_SECONDS)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> types.CallToolResult:
        """Call a tool.

        Raises:
            UpstreamUnavailable: The server is not connected or accepts no calls now, and did not receive this one.
            UpstreamRefused: The server responded with an error, or with a result of an unknown form.
            UnansweredError: It may have carried out the call, but sent no response.
        """
        try:
            return await self._call(tool, arguments)
        except _ForgottenError as error:  # the server was restarted and did not run the call
            self._lose(error.session)
        try:
            return await self._call(tool, arguments)
        except _ForgottenError as error:
            raise HttpFailure(NOT_FOUND).tool_error(self.server.name) from error

    async def _call(self, tool: str, arguments: Mapping[str, Any]) -> types.CallToolResult:
        session, gone = await self._current(), self._gone
        work = asyncio.ensure_future(call_tool(session, tool, arguments))
        lost = asyncio.ensure_future(gone.wait())
        allowed = self.server.timeout_seconds
        try:
            await asyncio.wait({work, lost}, timeout=allowed, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                return await self._result(session, work, tool)
            if lost.done():
                raise UnansweredError(self._unavailable(_LOST))
            late = f"The MCP server {self.server.name} did not answer within {allowed:g} seconds."
            raise UnansweredError(ToolTimeout(late))
        finally:
            work.cancel()
            lost.cancel()
            await asyncio.gather(work, lost, return_exceptions=True)

    async def _current(self) -> ClientSession:
        """The session; waits briefly while it is being reconnected."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_STOP_SECONDS if self.tools else 0.1):
                await self._connected.wait()
        if self._session is None:
            raise self._unavailable("is not connected")
        return self._session

    async def _result(
        self, session: ClientSession, work: asyncio.Future[types.CallToolResult], tool: str
    ) -> types.CallToolResult:
        from mcp.shared.exceptions import McpError

        error = work.exception()
        match error:
            case None:
                self.refusing = ""
                return work.result()
            case McpError():
                self._raise_failure(session, error)
                await self._raise_if_lost(session, error)
                name, code = self.server.name, error.error.code
                message = quoted(error.error.message, _LONGEST_MESSAGE)
                raise UpstreamRefused(
                    f"The MCP server {name} answered with error {code}: {message}"
                ) from error
            case ValidationError():
                raise UpstreamRefused(unknown_result(tool, error)) from error
        self._lose(session)
        raise UnansweredError(self._unavailable(_LOST)) from error

    def _raise_failure(self, session: ClientSession, error: McpError) -> None:
        """Raise if the error was made from an HTTP failure, and have the session checked.

        Raises:
            PlatformError: The server did not carry out the call.
            UnansweredError: It may have carried it out.
        """
        failure = failure_in(error)
        if failure is None:
            return
        if not failure.sent or (failure.largest and self.server.command):  # a program's messages end there
            self._lose(session)
        self._wake.set()
        tool_error = failure.tool_error(self.server.name)
        raise (UnansweredError(tool_error) if failure.may_have_run else tool_error) from error

    async def _raise_if_lost(self, session: ClientSession, error: McpError) -> None:
        """Raise if the error is not from the server but from the MCP client, which uses the same codes as servers do.

        Raises:
            _ForgottenError: The server does not know the session.
            UnansweredError: The connection was closed.
        """
        found = (error.error.code, error.error.message)
        if found == _TERMINATED:
            raise _ForgottenError(session)
        if found == _CLOSED and not await _answers(session):
            self._lose(session)
            raise UnansweredError(self._unavailable("closed the connection during the call")) from error

    def _unavailable(self, what: str) -> UpstreamUnavailable:
        return UpstreamUnavailable(
            f"The MCP server {self.server.name} {what}. Its tools work again when it is back."
        )

    def _lose(self, session: ClientSession) -> None:
        """Drop a broken session, unless it was replaced already; the background task opens a new one."""
        if self._session is not session:
            return
        self._session = None
        self._connected.clear()
        self._wake.set()

    async def _keep(self) -> None:
        while not self._closing:
            try:
                await self._serve()
            except Exception as error:  # noqa: BLE001 - a background task: it tries again when a server is down
                self._failures += 1
                self.trouble = reason_of(error)
                log.warning("mcp.unreachable", server=self.server.name, reason=self.trouble)
            self.tried.set()
            await self._rest(backoff(self._failures + 1, first=self._pause))

    async def _rest(self, seconds: float) -> None:
        """Wait, but no longer than until `stop`."""
        end = asyncio.get_running_loop().time() + seconds
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(end):
                while not self._closing:
                    await self._wake.wait()
                    self._wake.clear()

    async def _serve(self) -> None:
        """Run one session, from its initialization until it is lost or closed."""
        async with transport_of(self.server, self._on_message, self._most) as session:
            async with asyncio.timeout(START_SECONDS):
                await session.initialize()
                tools = await self._listed(session)
            gone = asyncio.Event()
            self._session, self._gone, self._failures = session, gone, 0
            self.refusing = ""
            self._connected.set()
            log.info("mcp.connected", server=self.server.name, tools=len(tools))
            try:
                await self._offer(tools)
                self.trouble = ""  # the agent has its tools
                await self._watch(session)
            finally:
                self._session = None
                self._connected.clear()
                gone.set()

    async def _watch(self, session: ClientSession) -> None:
        """Ping the server regularly, after each failed call, and more often while it refuses, until the session is lost."""
        while self._session is session and not self._closing:
            pause = backoff(self._failures + 1, first=self._pause) if self.refusing else PING_SECONDS
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._wake.wait()
            if self._session is not session or self._closing:
                return
            self._wake.clear()
            await self._look(session)

    async def _look(self, session: ClientSession) -> None:
        """List the server's tools if they have changed, else ping it.

        Raises:
            Exception: The session is lost. A server that only refuses, such as an overloaded one, keeps its session.
        """
        from mcp.shared.exceptions import McpError

        due, self._due = self._due, False
        try:
            async with asyncio.timeout(START_SECONDS):
                if due:
                    self._stale = False  # later notifications concern later changes
                    await self._offer(await self._listed(session))
                else:
                    await session.send_ping()
            self._failures, self.refusing = 0, ""
        except McpError as error:
            failure = failure_in(error)
            if failure is None or failure.status in _LOST_WITH:
                raise
            self._stale, self._due = self._stale or due, self._due or due
            self._note_refusal(failure)

    def _note_refusal(self, failure: HttpFailure) -> None:
        """Record that a connected server accepts nothing now; other refusals may concern the ping only."""
        if not failure.is_server_failure:
            return
        self._failures += 1
        if not self.refusing:
            log.warning("mcp.refusing", server=self.server.name, reason=f"it {failure.says}")
        self.refusing = f"it {failure.says}"

    async def _offer(self, tools: Sequence[types.Tool]) -> None:
        """Set the list of tools, and call `changed` if it differs from the last one."""
        wanted = self.server.tools
        kept = [tool for tool in tools if wanted is None or tool.name in wanted]
        unknown = frozenset(wanted or ()) - {tool.name for tool in tools}
        if unknown and unknown != self._unknown:
            log.warning("mcp.tools_unknown", server=self.server.name, tools=sorted(unknown))
        self._unknown = unknown
        changed, self.tools = kept != list(self.tools), kept
        if changed:
            await self._changed()
        self.tried.set()

    async def _on_message(self, message: object) -> None:
        """Handle a notification of the server."""
        from mcp import types

        if isinstance(message, types.ServerNotification) and isinstance(
            message.root, types.ToolListChangedNotification
        ):
            self._note_change()

    def _note_change(self) -> None:
        """Schedule another listing of the tools, at the earliest `between` seconds after the last. At most one is scheduled."""
        if self._stale:
            return
        self._stale = True
        loop = asyncio.get_running_loop()
        loop.call_at(max(loop.time(), self._listed_at + self._between), self._list_again)

    def _list_again(self) -> None:
        self._due = True
        self._wake.set()

    async def _listed(self, session: ClientSession) -> list[types.Tool]:
        """All tools of the server, page by page; none when it offers no tools."""
        capabilities = session.get_server_capabilities()
        if capabilities is None or capabilities.tools is None:
            return []
        self._listed_at = asyncio.get_running_loop().time()
        found: list[types.Tool] = []
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            page = await session.list_tools(cursor)
            found += page.tools
            cursor = page.nextCursor
            if not cursor:
                return found
        log.warning("mcp.tools_unread", server=self.server.name, read=len(found), pages=_MOST_PAGES)
        return found


class UnansweredError(Exception):
    """A call was sent and got no response, so it may have been carried out.

    Attributes:
        error: The error for a call that may be repeated.
    """

    def __init__(self, error: PlatformError) -> None:
        self.error = error
        super().__init__(error.message)


class _ForgottenError(Exception):
    """The server no longer knows the session, so it did not run the call.

    Attributes:
        session: The session.
    """

    def __init__(self, session: ClientSession) -> None:
        self.session = session
        super().__init__()


async def _answers(session: ClientSession) -> bool:
    """Whether a session still carries responses. Error responses count, unless the client created them."""
    from mcp.shared.exceptions import McpError

    try:
        async with asyncio.timeout(_ANSWER_SECONDS):
            await session.send_ping()
    except McpError as error:
        return failure_in(error) is None and (error.error.code, error.error.message) != _CLOSED
    except (TimeoutError, OSError, anyio.ClosedResourceError, anyio.BrokenResourceError):
        return False
    return True
