"""Every error that this service raises on purpose.

    PlatformError
    ├── SettingsError               a setting is missing or wrong; names the variable
    ├── ModelFailure                a language model could not answer
    │   ├── ContextOverflow         the request is larger than the model's window
    │   ├── OrphanedToolCall        the provider rejected an unpaired tool call or result
    │   ├── RateLimited             too many requests; try again later
    │   ├── AuthFailed              the provider refused the credentials
    │   ├── ModelUnavailable        the provider is down or unreachable, or its answer broke off
    │   │   └── ModelSlow           the model did not begin, or go on with, its answer in time
    │   ├── EmptyResponse           the provider answered with nothing
    │   ├── ReplyUnusable           the model's reply cannot be acted on
    │   │   ├── AnswerCut           it was cut off, as at the limit of output tokens
    │   │   ├── AnswerRepeated      it repeated itself without end and was stopped
    │   │   ├── CallsRepeated       it made a tool call again and again that was refused
    │   │   ├── CallsTooMany        it holds too many tool calls: `utils.llm.reply.many_calls`
    │   │   ├── FormUnfilled        it does not fill the form of the answers: `utils.llm.reply.form`
    │   │   └── ToolCallUnreadable  it holds a tool call that cannot be read
    │   ├── ContentFiltered         the provider's filter stopped the answer
    │   └── InvalidRequest          the provider refused the request for another reason
    │       └── ContentRefused      something in the conversation is probably the reason
    ├── ContextBudgetExceeded       what must be in a request does not fit in the window
    ├── UpstreamUnavailable         a service that a tool needs cannot be reached
    ├── UpstreamRefused             that service answered with an error that the model can work with
    ├── ArgumentsRefused            a tool does not accept the arguments that it was called with
    ├── ChangeRefused               a tool was called for a change that its agent does not make
    ├── ToolTimeout                 a tool did not answer in time
    ├── OutcomeUnknown              a tool was interrupted, as by the death of its process, and may have had its effect
    ├── StateConflict               two calls changed one key of an agent's state: `utils.a2a_common.graph.own.state_conflict`
    ├── DeadlineExceeded            a turn took longer than it may
    ├── NoAnswer                    a turn ended without an answer
    ├── RetrievalFailed             the document index could not be searched
    ├── IngestFailed                a document could not be read or indexed
    ├── DelegationFailed            a sub-agent did not complete its task
    │   ├── SubAgentUnavailable     a sub-agent cannot be reached
    │   ├── SubAgentRefused         a sub-agent does not accept the request
    │   └── PeerLimitExceeded       a sub-agent sent more than is accepted from one agent
    ├── ProtocolViolation           a peer broke the A2A protocol
    ├── StorageError                a database or file of this agent failed
    │   ├── StorageAway             a database cannot be used for now: it is unreachable or locked
    │   ├── StorageFull             there is no space on the disk
    │   └── StorageUnreadable, KeysOutdated: `utils.encryption.errors`, for what is encrypted
    ├── RetryLater                  no new turn is taken now; says when to try again
    │   ├── Overloaded              too many turns wait already
    │   ├── TooManyRequests         the caller asks for more than one caller may
    │   ├── Draining                the process is about to stop
    │   └── ConversationBusy        a conversation that shall be deleted has a turn under way
    ├── TaskBusy                    another turn of the task is under way
    └── TurnInterrupted             the process of a turn ended, and the turn is not resumed

Recovery decides by these types. The message of a `PlatformError` is for the person who chats: a plain sentence without secrets,
internal paths or a provider's raw text. What only an operator may see goes to the log, as the `__cause__`.
"""

from __future__ import annotations

INTERNAL = "internal_error"
"""Code of an unexpected failure."""
CRASHED = "Internal error in the agent. Try again. If it happens again, report the trace id to whoever runs the agent."
TOOL_CRASHED = "The tool {tool} failed unexpectedly. If it fails again, report the trace id."
SERVER_CRASHED = "Internal error in the server. Try again. If it happens again, report it to the operator."


class PlatformError(Exception):
    """An error with a stable code and a sentence that may be shown to a user.

    Attributes:
        code: Stable, lower-case identifier that programs may compare.
        retryable: Whether the same request may succeed later without a change.
        message: One plain sentence, safe to show.
        advice, quoted: What a model is shown in addition, in our words and in those of the other side; never shown to a user.
        sentence: The message of an error that is raised without one.
    """

    code: str = INTERNAL
    retryable: bool = False
    advice: str = ""
    quoted: str = ""
    sentence: str = ""

    def __init__(self, message: str = "") -> None:
        self.message = message or self.sentence
        super().__init__(self.message)


class SettingsError(PlatformError):
    """A setting is missing or wrong; `variable` names the environment variable to set or to correct."""

    code = "settings_invalid"

    def __init__(self, variable: str, message: str) -> None:
        super().__init__(message)
        self.variable = variable


class ModelFailure(PlatformError):
    """A language model could not answer."""

    code = "model_failed"


class ContextOverflow(ModelFailure):
    """The request was larger than the model's context window: `limit` tokens, where the provider told it."""

    code = "context_overflow"

    def __init__(self, message: str, *, limit: int | None = None) -> None:
        super().__init__(message)
        self.limit = limit


class OrphanedToolCall(ModelFailure):
    """The provider rejected a tool call without a result, or a result without its call."""

    code = "orphaned_tool_call"


class RateLimited(ModelFailure):
    """The provider asks to slow down: to wait `retry_after` seconds, where it told so."""

    code = "rate_limited"
    retryable = True

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class AuthFailed(ModelFailure):
    """The provider refused the credentials."""

    code = "auth_failed"


class ModelUnavailable(ModelFailure):
    """The provider is down or unreachable, or its answer broke off."""

    code = "model_unavailable"
    retryable = True


class ModelSlow(ModelUnavailable):
    """The model was silent for longer than a setting allows. `begun` tells whether part of its answer had come."""

    code = "model_slow"

    def __init__(self, message: str, *, begun: bool = False) -> None:
        super().__init__(message)
        self.begun = begun


class EmptyResponse(ModelFailure):
    """The model answered with neither text nor a tool call."""

    code = "empty_response"
    retryable = True


class ReplyUnusable(ModelFailure):
    """The model's reply cannot be acted on; nothing of it was run."""

    code = "reply_unusable"


class AnswerCut(ReplyUnusable):
    """The reply was cut off, as at the limit of output tokens, in a tool call or before it said anything."""

    code = "answer_cut"


class AnswerRepeated(ReplyUnusable):
    """The reply repeated itself without end and was stopped. `text` is what it had said until then."""

    code = "answer_repeated"

    def __init__(self, message: str, *, text: str = "") -> None:
        super().__init__(message)
        self.text = text


class CallsRepeated(ReplyUnusable):
    """The model made a tool call again that had been refused twice because its result does not change."""

    code = "calls_repeated"


class ToolCallUnreadable(ReplyUnusable):
    """The reply holds a tool call that is written in no form that can be read."""

    code = "tool_call_unreadable"


class ContentFiltered(ModelFailure):
    """The provider's content filter stopped the answer."""

    code = "content_filtered"


class InvalidRequest(ModelFailure):
    """The provider refused the request for a reason that a retry does not remove."""

    code = "invalid_request"


class ContentRefused(InvalidRequest):
    """The provider refused what the request holds, such as a broken picture or words that its filter does not let pass."""


class ContextBudgetExceeded(PlatformError):
    """System prompt, tools and pinned text alone do not fit in the model's window."""

    code = "context_budget_exceeded"


class UpstreamUnavailable(PlatformError):
    """A service that a tool needs cannot be reached or answers with server errors."""

    code = "upstream_unavailable"
    retryable = True


class UpstreamRefused(PlatformError):
    """A service answered a tool's request with an error that the model can work with (404, 403, …)."""

    code = "upstream_refused"


class ArgumentsRefused(PlatformError):
    """A tool does not take the arguments that it was called with. Says which, and what is allowed."""

    code = "arguments_refused"


class ChangeRefused(PlatformError):
    """A change was asked for that the agent does not make. Says what it would take, or what is possible."""

    code = "change_refused"


class ToolTimeout(PlatformError):
    """A tool did not answer in time."""

    code = "tool_timeout"
    retryable = True


class OutcomeUnknown(PlatformError):
    """A tool was cut off, or what it called did not say whether it made a change, or a sub-agent's answer was lost, or it failed without a reason. It is not run again, and the turn fails."""

    code = "unknown_outcome"
    advice = (
        "Do not make the change again. Find out what became of it, where that is possible, and tell the user."
    )


class DeadlineExceeded(PlatformError):
    """A turn took longer than it may."""

    code = "deadline_exceeded"
    retryable = True


class NoAnswer(PlatformError):
    """A turn ended without an answer, a question or an error."""

    code = "no_answer"
    retryable = True
    sentence = "The agent ended without an answer. Please try again."


class RetrievalFailed(PlatformError):
    """The document index could not be searched; distinct from a search that finds nothing."""

    code = "retrieval_failed"
    retryable = True


class IngestFailed(PlatformError):
    """A document could not be read or indexed."""

    code = "ingest_failed"


class DelegationFailed(PlatformError):
    """A sub-agent did not complete its task. `code` is its own, where it told one; `left_open` says that the task may go on there."""

    code = "delegation_failed"
    left_open = False

    def __init__(self, message: str, *, code: str | None = None, retryable: bool = False) -> None:
        super().__init__(message)
        self.code, self.retryable = code or type(self).code, retryable or type(self).retryable


class SubAgentUnavailable(DelegationFailed):
    """A sub-agent cannot be reached."""

    code = "sub_agent_unavailable"
    retryable = True


class SubAgentRefused(DelegationFailed):
    """A sub-agent answered that it does not accept the request; the sentence quotes its reason."""

    code = "sub_agent_refused"


class PeerLimitExceeded(DelegationFailed):
    """A sub-agent sent more than is accepted from one agent: bytes, events, values in one event, or characters to approve."""

    code = "peer_limit_exceeded"


class ProtocolViolation(PlatformError):
    """A peer sent something that the A2A protocol does not allow."""

    code = "protocol_violation"


class StorageError(PlatformError):
    """A database or file of this agent failed."""

    code = "storage_failed"
    retryable = True

    def __init__(self, message: str = "", *, for_operator: str = "") -> None:
        """`for_operator` is the message for an operator if the error keeps the process from starting: it names the file and a remedy."""
        super().__init__(message)
        self.for_operator = for_operator or self.message


class StorageAway(StorageError):
    """A database cannot be used by this process for now: it is unreachable, locked, or encrypted by others. The same request may succeed `retry_after` seconds later."""

    retry_after = 2.0


class StorageFull(StorageError):
    """There is no room on the disk for a database or file of this agent."""

    code = "storage_full"
    sentence = "The disk is full, so nothing can be stored. Free some space and try again."


class RetryLater(PlatformError):
    """The agent accepts no new turn now. The same request, sent again with its message id, is served after `retry_after` seconds."""

    code = "unavailable"
    retryable = True
    sentence = "The agent accepts no new requests at the moment. Try again in {seconds} s."

    def __init__(self, retry_after: float) -> None:
        super().__init__(self.sentence.format(seconds=max(1, -int(-retry_after // 1))))
        self.retry_after = retry_after


class Overloaded(RetryLater):
    """As many turns wait as `MAX_WAITING_TURNS` allows."""

    code = "overloaded"
    sentence = "Too many requests are waiting. Try again in {seconds} s."


class TooManyRequests(RetryLater):
    """The caller asks for more than `CALLER_REQUESTS_PER_MINUTE`, `CALLER_OPEN_REQUESTS`, `CALLER_TURNS` or `CALLER_TURNS_MB` allow."""

    code = "too_many_requests"
    sentence = "You have reached the limit of requests per caller. Try again in {seconds} s."


class Draining(RetryLater):
    """The process finishes its running turns and then stops."""

    code = "draining"
    sentence = "The agent is being restarted. Try again in {seconds} s."


class ConversationBusy(RetryLater):
    """A conversation cannot be deleted, since a turn of it has just begun or has not ended yet."""

    code = "conversation_busy"
    sentence = "A request of this conversation is under way. Nothing was deleted; try again."


class TaskBusy(PlatformError):
    """Another turn of the task is under way."""

    code = "task_busy"
    retryable = True
    sentence = "The task is working. Wait for its end, or cancel it."


class TurnInterrupted(PlatformError):
    """The process of a turn ended before the turn did, and the turn is not resumed."""

    code = "interrupted"
    retryable = True
    sentence = "The agent was restarted while it worked on this. Send the request again."
