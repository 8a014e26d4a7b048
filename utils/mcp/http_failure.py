"""`HttpFailure`: an HTTP request to an MCP server that did not return an MCP message, and its representation as an error. Pure."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from utils.errors import PlatformError, ToolTimeout, UpstreamRefused, UpstreamUnavailable
from utils.mcp.words import plain
from utils.net.retry_after import asked_wait

if TYPE_CHECKING:
    from mcp.shared.exceptions import McpError

ACCEPTED, NOT_FOUND, TOO_MANY = 202, 404, 429
_NOT_IMPLEMENTED = 501
_REDIRECTED, _CREDENTIALS, _FORBIDDEN, _REFUSED, _FAILED = 300, 401, 403, 400, 500
_CODE = -32000
_MARK = secrets.token_hex(16)
"""The message of the errors that this process makes from HTTP failures. It is random, so that no server can send it."""
_LONGEST_TYPE = 60
_LONGEST_WAIT = 86_400.0
_AGAIN = " Its tools work again when it is back."
_OPERATOR = " Whoever runs this agent can change them."


@dataclass(frozen=True, slots=True)
class HttpFailure:
    """Why a request did not return an MCP message.

    Attributes:
        status: Status of the response; `None` without a response.
        media_type: Media type of the response.
        wait: Seconds of its Retry-After header, if it has one.
        sent: Whether the server may have received the request.
        late: Whether it timed out.
        largest: Limit of a response in bytes, if the response exceeded it.
    """

    status: int | None = None
    media_type: str = ""
    wait: float | None = None
    sent: bool = True
    late: bool = False
    largest: int | None = None

    @property
    def may_have_run(self) -> bool:
        """Whether the request may have been carried out. A server that refuses a request has not carried it out."""
        return self.sent and not (self.status is not None and _REFUSED <= self.status < _FAILED)

    @property
    def is_server_failure(self) -> bool:
        """Whether the status concerns the server and not this request: it is overloaded or broken."""
        status = self.status or 0
        return status == TOO_MANY or (status >= _FAILED and status != _NOT_IMPLEMENTED)

    @property
    def says(self) -> str:
        """What the server did, as the end of a sentence."""
        if self.largest is not None:
            return f"answered with more than {self.largest:,} bytes, which is not read"
        match self.status:
            case None:
                if self.late:
                    return "did not answer in time"
                return "was lost during the request" if self.sent else "cannot be reached"
            case status if status == _CREDENTIALS:
                return f"does not take the credentials that it was given (status {status})"
            case status if status == _FORBIDDEN:
                return f"does not allow this with the credentials that it was given (status {status})"
            case status if status == TOO_MANY:
                return f"gets too many requests (status {status})"
            case status if status >= _FAILED:
                return f"failed with status {status}"
            case status if status >= _REFUSED:
                return f"refused the request with status {status}"
            case status if status >= _REDIRECTED:
                return f"refers to another address (status {status})"
            case status if status == ACCEPTED:
                return f"took the request without an answer (status {status})"
        return f"answered with {plain(self.media_type, _LONGEST_TYPE) or 'something'}, which is not MCP"

    def tool_error(self, server: str) -> PlatformError:
        """The error of a tool call that may be repeated."""
        sentence = f"The MCP server {server} {self.says}."
        if self.largest is not None:
            return UpstreamRefused(f"{sentence} Ask it for less.")
        if self.late:
            return ToolTimeout(sentence)
        if self.status in {_CREDENTIALS, _FORBIDDEN}:
            return UpstreamRefused(sentence + _OPERATOR)
        if self.status == TOO_MANY:
            when = "later" if self.wait is None else f"in {self.wait:g} seconds"
            return UpstreamUnavailable(f"{sentence} It takes this one {when}.")
        if not self.may_have_run and self.sent:
            return UpstreamRefused(sentence)
        return UpstreamUnavailable(sentence if self.status else sentence + _AGAIN)


def failed_with(status: int, headers: Mapping[str, str]) -> HttpFailure:
    """The failure that the status and headers of a response describe."""
    return HttpFailure(status, headers.get("content-type", "").split(";")[0], _seconds(headers))


def undecoded(status: int, headers: Mapping[str, str]) -> HttpFailure:
    """The failure of a response whose body does not have the encoding that its headers declare."""
    failure = failed_with(status, headers)
    return replace(failure, media_type=f"{failure.media_type} in a wrong encoding")


def as_response(number: int | str, failure: HttpFailure) -> dict[str, Any]:
    """The failure as the JSON-RPC error response to a request."""
    error = {"code": _CODE, "message": _MARK, "data": asdict(failure)}
    return {"jsonrpc": "2.0", "id": number, "error": error}


def failure_in(error: McpError) -> HttpFailure | None:
    """The failure in an error from `as_response`; `None` for an error of the server."""
    data: Any = error.error.data
    return HttpFailure(**data) if error.error.message == _MARK else None


def _seconds(headers: Mapping[str, str]) -> float | None:
    wait = asked_wait(headers.get("retry-after"))
    return wait if wait and wait <= _LONGEST_WAIT else None
