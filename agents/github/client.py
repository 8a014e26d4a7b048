"""Client for reading from GitHub: JSON, pages and texts, with typed errors."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, quote, urlsplit

from agents.github.json_body import json_body
from agents.github.settings import GitHubSettings

if TYPE_CHECKING:
    from githubkit import Response

    from agents.github.connection import Connection

_LONGEST_LINE = 1_000_000
"""Bytes after which a line without a line end is returned in parts."""

Row = dict[str, Any]
Params = Mapping[str, str | int | None]


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a list.

    Attributes:
        rows: Its rows, as GitHub returns them.
        total: Rows in the whole list, if GitHub returns it.
        has_next: Whether a page follows.
        last: Number of the last page, if GitHub returns it.
    """

    rows: list[Row]
    total: int | None
    has_next: bool
    last: int | None


def path_of(*segments: str | int) -> str:
    """A request path from raw segments, each escaped so that none can leave its place."""
    return "/".join(quote(str(segment), safe="") for segment in segments)


class GitHubClient:
    """Reads from one GitHub server, over connections shared by all tasks.

    `what` names the requested thing in errors: "repository octocat/hello-world". All methods raise
    `UpstreamUnavailable` when GitHub cannot be reached or fails, and `UpstreamRefused` when it
    refuses the request.
    """

    def __init__(self, settings: GitHubSettings) -> None:
        self.settings = settings
        self._connections: dict[bool, Connection] = {}

    @property
    def has_token(self) -> bool:
        """Whether requests carry a token."""
        return self.settings.has_shared

    async def stop(self) -> None:
        """Close the connections. A later request opens new ones."""
        connections, self._connections = self._connections, {}
        for connection in connections.values():
            await connection.close()

    async def get(self, path: str, what: str, **params: str | int | None) -> Any:
        """The JSON at `path`."""
        return _json(await self._request(path, what, params), what)

    async def get_row(self, path: str, what: str, **params: str | int | None) -> Row:
        """The JSON object at `path`."""
        value = await self.get(path, what, **params)
        if not isinstance(value, dict):
            raise _not_github(what)
        return value

    async def get_page(self, path: str, what: str, params: Params, *, key: str | None = None) -> Page:
        """One page of a list; if the response is an object, its rows are under `key`."""
        response = await self._request(path, what, params)
        value = _json(response, what)
        total = value.get("total_count") if isinstance(value, dict) else None
        rows = value.get(key) if isinstance(value, dict) and key else value
        if not isinstance(rows, list):
            raise _not_github(what)
        links = response.raw_response.links
        number = parse_qs(urlsplit(links.get("last", {}).get("url", "")).query).get("page", [""])[0]
        return Page(
            rows=[row for row in rows if isinstance(row, dict)],
            total=total if isinstance(total, int) else None,
            has_next="next" in links,
            last=int(number) if number.isdecimal() else None,
        )

    async def lines(
        self, path: str, what: str, params: Params, *, max_bytes: int, accept: str = "*/*"
    ) -> AsyncGenerator[str, None]:
        """Lines of the text at `path` as they arrive, without line ends; stops after `max_bytes`."""
        rest = b""
        async with aclosing(self._chunks(path, what, params, max_bytes, accept)) as chunks:
            async for chunk in chunks:
                *whole, rest = (rest + chunk).split(b"\n")
                for line in whole:
                    yield line.decode("utf-8", "replace").rstrip("\r")
                if len(rest) > _LONGEST_LINE:
                    yield rest.decode("utf-8", "replace")
                    rest = b""
        if rest:
            yield rest.decode("utf-8", "replace").rstrip("\r")

    async def _chunks(
        self, path: str, what: str, params: Params, max_bytes: int, accept: str
    ) -> AsyncGenerator[bytes, None]:
        from githubkit.exception import GitHubException

        from agents.github.faults import platform_error

        response = await self._request(path, what, params, accept=accept, stream=True)
        left = max_bytes
        try:
            async for chunk in response.aiter_bytes():
                yield chunk[:left]
                left -= len(chunk)
                if left <= 0:
                    return
        except GitHubException as error:
            raise platform_error(error, what, has_token=self.has_token) from error
        finally:
            await response.raw_response.aclose()

    async def _request(
        self, path: str, what: str, params: Params, *, accept: str | None = None, stream: bool = False
    ) -> Response[Any]:
        from githubkit.exception import GitHubException

        from agents.github.faults import platform_error

        given = {name: value for name, value in params.items() if value is not None}
        headers = {"Accept": accept} if accept else None
        try:
            return await self._connected(streams=stream).arequest(
                "GET", path, params=given, headers=headers, stream=stream
            )
        except GitHubException as error:
            raise platform_error(error, what, has_token=self.has_token) from error

    def _connected(self, *, streams: bool) -> Connection:
        """The connection for texts that are read as they come, or for JSON, which is held as a whole."""
        from agents.github.connection import LARGEST_TEXT, Connection
        from utils.net.bounded import LARGEST_BODY

        if streams not in self._connections:
            most = LARGEST_TEXT if streams else LARGEST_BODY
            self._connections[streams] = Connection(self.settings, most=most)
        return self._connections[streams]


def _json(response: Response[Any], what: str) -> Any:
    try:
        return json_body(response)
    except ValueError as error:
        raise _not_github(what) from error


def _not_github(what: str) -> Exception:
    from agents.github.faults import not_json

    return not_json(what)
