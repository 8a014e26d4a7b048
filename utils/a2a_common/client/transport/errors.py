"""The errors of a call to another agent, as types. Only this module knows the SDK's errors.

    PeerError
    ├── ConnectionLost      the agent cannot be reached, or the connection broke: whether the call arrived is unknown
    │   └── CertificateRefused  we do not trust the agent's certificate, or it does not take ours
    ├── UnusableAnswer      something answered that is no A2A agent: an HTTP error, no JSON, no message of A2A
    │   └── AgentBusy           the agent accepts no request now, and says when to retry
    ├── RequestRefused      the agent does not accept the call, and says why
    │   ├── CredentialsRefused  it wants to know who asks, or does not let the one who asks
    │   ├── NotStoredThere      it cannot store the message
    │   └── NotAuthorised       there is no credential to show it: nothing was sent
    ├── FailedInside        the agent failed over the call
    ├── NoProgress          the agent ended its answer without an end of the task
    │   └── TaskLeft            and nothing seems to work on it any more
    └── OutcomeUnclear      it is unknown whether a message was carried out

`PeerLimitExceeded` and `ProtocolViolation` (utils/errors.py) pass through: they are raised by the checks of this room.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from utils.a2a_common.client.transport.delegation_failures import SubAgentNotAuthorised
from utils.a2a_common.client.transport.http_errors import BUSY_STATUS, retry_after_of, status_of
from utils.a2a_common.client.transport.peer_text import with_quotation, with_reason
from utils.a2a_common.client.transport.sentences import (
    AGENT_UNCLEAR,
    MAY_HAVE_DONE_IT,
    SUB_AGENT_BUSY,
    SUB_AGENT_CRASHED,
    SUB_AGENT_LEFT,
    SUB_AGENT_LOST,
    SUB_AGENT_NEEDS_MESSAGE,
    SUB_AGENT_NOT_EXCHANGED,
    SUB_AGENT_NOT_GRANTED,
    SUB_AGENT_NOT_STORED,
    SUB_AGENT_REFUSED,
    SUB_AGENT_STOPPED,
    SUB_AGENT_UNREACHABLE,
    SUB_AGENT_UNREADABLE,
)
from utils.a2a_common.client.transport.unclear import DelegationUnclear, is_away
from utils.a2a_common.client.transport.unread_reason import cut, reason_of
from utils.a2a_common.protocol.not_stored import is_refusal
from utils.a2a_common.protocol.rpc_codes import SERVER_REFUSED
from utils.auth.exchange import NoTokenReason
from utils.errors import (
    DelegationFailed,
    OutcomeUnknown,
    PeerLimitExceeded,
    PlatformError,
    ProtocolViolation,
    StorageError,
    SubAgentRefused,
    SubAgentUnavailable,
)
from utils.net.unsent import never_sent

if TYPE_CHECKING:
    import httpx
    from a2a.utils.errors import A2AError


_NOT_TAKEN = frozenset({301, 307, 308, *range(400, 500)} - {408, 499})
"""HTTP statuses that prove that the request was not carried out."""
_NO_ENTRY = {
    401: "It does not know who asks: it needs a key or a token, and got none that it takes.",
    403: "The key or token does not allow that.",
}

_OURS_REFUSED = (
    "_ALERT_CERTIFICATE_",
    "_ALERT_UNKNOWN_CA",
    "_ALERT_BAD_CERTIFICATE",
    "_ALERT_HANDSHAKE_FAILURE",
)
"""In OpenSSL's names of TLS alerts about a client's certificate."""

_NO_TOKEN = {
    NoTokenReason.REFUSED: SUB_AGENT_NOT_GRANTED,
    NoTokenReason.UNAVAILABLE: SUB_AGENT_NOT_EXCHANGED,
    NoTokenReason.GONE: SUB_AGENT_NEEDS_MESSAGE,
}


class PeerError(PlatformError):
    """A call to another agent failed."""

    code = "peer_failed"


class OwnFault(Exception):
    """A call failed by a fault of this program, before anything came from the agent: no `PeerError`, since the agent is not at fault."""


class ConnectionLost(PeerError):
    """The agent cannot be reached, or the connection broke.

    Attributes:
        sent: Whether the call may have arrived.
    """

    code = "connection_lost"
    retryable = True

    def __init__(self, message: str, *, sent: bool = True) -> None:
        super().__init__(message)
        self.sent = sent


class CertificateRefused(ConnectionLost):
    """One of the two sides does not trust the certificate of the other: nothing was sent."""

    code = "certificate_refused"

    def __init__(self, message: str) -> None:
        super().__init__(message, sent=False)


class UnusableAnswer(PeerError):
    """The answer does not follow the protocol.

    Attributes:
        reason: What is wrong with it, on one line of `LONGEST_REASON` characters at most; may contain text of the peer.
        answered: Whether it came as an answer; otherwise with the status of an HTTP error, as from a proxy whose agent is away.
        status: HTTP status, where it is an error.
    """

    code = "agent_refused"

    def __init__(self, reason: str, *, answered: bool = False, status: int | None = None) -> None:
        super().__init__("The agent sent an answer that cannot be used.")
        self.reason = cut(reason)
        self.answered = answered
        self.status = status

    @property
    def final(self) -> bool:
        """Whether the same question would get the same answer later."""
        return self.answered or (self.status in _NOT_TAKEN and self.status not in BUSY_STATUS)


class AgentBusy(UnusableAnswer):
    """The agent accepts no request now: it has too many, or it is stopping. The request was not started.

    Attributes:
        retry_after: Seconds after which it may be sent again, with the same message id.
    """

    code = "sub_agent_busy"
    retryable = True

    def __init__(self, retry_after: float) -> None:
        super().__init__("The agent is busy.")
        self.retry_after = retry_after


class RequestRefused(PeerError):
    """The agent does not accept the call.

    Attributes:
        reason: The agent's own text.
        unsupported: Whether it does not offer what was asked for.
        unknown_task: Whether it does not, or no longer, have such a task.
    """

    code = "agent_refused"

    def __init__(self, reason: str, *, unsupported: bool = False, unknown_task: bool = False) -> None:
        super().__init__("The agent refused the request.")
        self.reason = reason
        self.unsupported = unsupported
        self.unknown_task = unknown_task


class CredentialsRefused(RequestRefused):
    """The agent requires credentials, or does not accept the ones that were sent."""


class NotAuthorised(RequestRefused):
    """The identity provider gave no token for the agent, so that nothing was sent.

    Attributes:
        why: The reason.
    """

    def __init__(self, why: NoTokenReason) -> None:
        super().__init__("")
        self.why = why


class NotStoredThere(RequestRefused):
    """The agent cannot store the message, as where its disk is full, and has done nothing with it."""


class FailedInside(RequestRefused):
    """The agent failed over the call, perhaps in the middle of its work. Its text is for its operator and may be anything."""


class NoProgress(PeerError):
    """The agent ended its answer, or sends nothing any more, and its task has not ended."""

    code = "agent_refused"


class TaskLeft(NoProgress):
    """The agent ends each stream of the task at once, and the task does not change: apparently nothing works on it.

    Attributes:
        seconds: How long it has shown no change.
    """

    def __init__(self, task_id: str, seconds: float) -> None:
        super().__init__(
            f"The agent ended its stream, but task {task_id} is not finished and shows no change since {seconds:.0f} seconds."
        )
        self.seconds = seconds


class OutcomeUnclear(PeerError):
    """A message may have been carried out: it was sent, its answer was lost, and the agent does not report its outcome.

    Attributes:
        lost: How the answer was lost; `None` where the process that waited for it ended.
    """

    code = OutcomeUnknown.code

    def __init__(self, lost: PeerError | None) -> None:
        super().__init__(AGENT_UNCLEAR)
        self.lost = lost


BEST_EFFORT = (PeerError, PeerLimitExceeded, ProtocolViolation, TimeoutError)
"""What may come of asking an agent for something that is not needed."""


@contextmanager
def typed_errors() -> Iterator[None]:
    """Errors of the SDK and of the transport as those of this file, and those of reading what the agent sent.

    What an agent sends can make the SDK raise any of the errors below. So only the call and the reading of its answer stand
    in such a block: requests are made before, and `guarded` keeps the hooks of the HTTP client out.
    """
    import httpx
    from a2a.utils.errors import A2AError
    from google.protobuf.json_format import ParseError

    try:
        yield
    except (A2AError, httpx.HTTPError, OSError) as error:
        raise typed(error) from error
    except UnicodeEncodeError:
        raise  # an error of our own request
    except (ParseError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise UnusableAnswer(reason_of(error), answered=True) from error


def guarded(hook: Callable[[httpx.Request], Awaitable[None]]) -> Callable[[httpx.Request], Awaitable[None]]:
    """Wrap a request hook so that its programming errors are raised as `OwnFault`: nothing was sent to the agent yet."""

    async def called(request: httpx.Request) -> None:
        try:
            await hook(request)
        except (ValueError, TypeError, AttributeError, LookupError, RecursionError) as error:
            raise OwnFault("A hook of requests to another agent failed.") from error

    return called


def typed(error: Exception) -> PeerError:
    """The error of this file for one of the SDK or of the transport."""
    import httpx
    from a2a.client.errors import A2AClientError, A2AClientTimeoutError
    from a2a.utils.errors import (
        A2AError,
        InternalError,
        InvalidAgentResponseError,
        TaskNotFoundError,
        UnsupportedOperationError,
    )

    from utils.a2a_common.protocol.server_error import ServerError

    if (seconds := retry_after_of(error.__cause__ or error)) is not None:
        return AgentBusy(seconds)
    if (status := status_of(error.__cause__ or error)) in _NO_ENTRY:
        return CredentialsRefused(_NO_ENTRY[status])
    cause = error.__cause__ if isinstance(error, A2AClientError) else error
    if (refused := certificate_refused(cause)) is not None:
        return refused
    match cause:
        case httpx.TransportError() if never_sent(cause):
            return ConnectionLost("The agent cannot be reached.", sent=False)
        case httpx.TransportError() | OSError():
            return ConnectionLost("The connection to the agent was lost.")
    match error:
        case InternalError() if is_refusal(error.data):
            return NotStoredThere(error.message)
        case InternalError() | InvalidAgentResponseError():
            return FailedInside(error.message)
        case ServerError():
            return UnusableAnswer(f"JSON-RPC Error {SERVER_REFUSED}: {error.message}", answered=True)
        case A2AError() if not isinstance(error, A2AClientError):
            unsupported, unknown = (
                isinstance(error, each) for each in (UnsupportedOperationError, TaskNotFoundError)
            )
            return RequestRefused(error.message, unsupported=unsupported, unknown_task=unknown)
    answered = not isinstance(error, A2AClientTimeoutError) and not isinstance(cause, httpx.HTTPError)
    return UnusableAnswer(_text(error), answered=answered, status=status or None)


def never_taken(error: PeerError) -> bool:
    """Whether the request cannot have been started: it was not sent, or was refused before any work."""
    match error:
        case ConnectionLost(sent=sent):
            return not sent
        case AgentBusy() | NotStoredThere():
            return True
        case UnusableAnswer(status=status):
            return status in _NOT_TAKEN
    return False


def certificate_refused(error: BaseException | None) -> CertificateRefused | None:
    """The refused certificate that caused an error of the transport; `None` if it has another cause.

    With TLS 1.3 a server looks at our certificate after our side of the handshake has ended, so that its refusal may
    arrive with the first read.
    """
    import ssl

    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return CertificateRefused(f"Its certificate is not trusted: {error.verify_message}.")
        if isinstance(error, ssl.SSLError) and any(each in (error.reason or "") for each in _OURS_REFUSED):
            return CertificateRefused("It does not take our certificate, or wants one and got none.")
        error = error.__cause__ or error.__context__
    return None


def failure_of(agent: str, error: PeerError) -> DelegationFailed:
    """The error that a delegation ends with.

    Only errors that mean that the agent could not be reached count for its circuit breaker, which saves callers from
    waiting in vain. An agent that refuses a request, or fails over it, has answered: a breaker would let one
    request that it cannot handle make the agent unavailable to everyone else.
    """
    match error:
        case OutcomeUnclear(lost=lost):
            return _unclear(agent, lost or ConnectionLost(AGENT_UNCLEAR))
        case NotAuthorised(why=why):
            return SubAgentNotAuthorised(_NO_TOKEN[why].format(agent=agent))
        case NotStoredThere():
            told = SUB_AGENT_NOT_STORED.format(agent=agent)
            return DelegationFailed(told, code=StorageError.code, retryable=True)
        case FailedInside():
            return DelegationFailed(SUB_AGENT_CRASHED.format(agent=agent))
        case RequestRefused(reason=reason):
            return SubAgentRefused(with_quotation(SUB_AGENT_REFUSED.format(agent=agent), reason))
        case AgentBusy():
            return DelegationFailed(SUB_AGENT_BUSY.format(agent=agent), code=error.code, retryable=True)
        case TaskLeft(seconds=seconds):
            return DelegationFailed(SUB_AGENT_LEFT.format(agent=agent, seconds=seconds), retryable=True)
        case NoProgress():
            return DelegationFailed(SUB_AGENT_STOPPED.format(agent=agent), retryable=True)
        case UnusableAnswer(answered=True, reason=reason):
            return DelegationFailed(with_reason(SUB_AGENT_UNREADABLE.format(agent=agent), reason))
    return SubAgentUnavailable(SUB_AGENT_UNREACHABLE.format(agent=agent))


def detail_of(error: BaseException) -> str:
    """Why an answer cannot be read, for the log; empty for other errors."""
    match error:
        case OutcomeUnclear(lost=PeerError() as lost):
            return detail_of(lost)
        case UnusableAnswer(reason=reason):
            return reason
    return ""


def _unclear(agent: str, lost: PeerError) -> DelegationUnclear:
    """Convert `lost` into a failure whose outcome is unknown: the agent may have done its work."""
    failure = failure_of(agent, lost)
    away = is_away(failure)
    sentence = SUB_AGENT_LOST.format(agent=agent) if away else failure.message
    return DelegationUnclear(f"{sentence} {MAY_HAVE_DONE_IT}", away=away)


def _text(error: Exception | A2AError) -> str:
    return str(getattr(error, "message", "")) or str(error)
