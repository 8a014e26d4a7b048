"""`AgentService`: the parts of an agent that its server needs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from a2a.server.agent_execution import AgentExecutor
from a2a.types.a2a_pb2 import AgentCard
from starlette.middleware import Middleware

from utils.a2a_common.engine.local import Hold, nobody_else
from utils.a2a_common.handler.consent import Consent
from utils.a2a_common.handler.pending_input import NoPendingInput, PendingInputPolicy
from utils.a2a_common.protocol.before_turn import MessageAnswers, Preparation
from utils.a2a_common.protocol.readiness import Readiness
from utils.a2a_common.server.deletion import DeletionPlan
from utils.a2a_common.server.grpc.server import UserOf
from utils.a2a_common.server.http.page_login import PageLogin
from utils.a2a_common.server.http.probes import nothing_stored
from utils.a2a_common.server.push.store import PushConfigs
from utils.a2a_common.tasks.log import TaskLog
from utils.auth.authenticator import Authenticator
from utils.persistence.runs import MemoryRuns, RunStore

if TYPE_CHECKING:
    from utils.a2a_common.engine.turn_queue import TurnQueue

Hook = Callable[[], Awaitable[None]]


async def nothing() -> None:
    """The hook of an agent that has nothing to start or stop."""


async def always_ready() -> Readiness:
    """The readiness of an agent without dependencies."""
    return Readiness(ready=True)


@dataclass(frozen=True)
class AgentService:
    """The parts of an agent that its server needs.

    Attributes:
        card: The public card. Whether it announces an extended card is set by `build_app`.
        executor: Runs the turns.
        log: Keeps the tasks; opened before `on_start` and closed after `on_stop`.
        runs: Keeps the turns that have not ended, for the next process; in memory when omitted.
        readiness: Asked on every `/readyz`.
        on_start: Awaited before the first request is served.
        on_stop: Awaited after the last one.
        extended_card: The card for authenticated callers. It is announced where `authenticator`, `grpc_user`, or Starlette's
            `AuthenticationMiddleware` among `middleware` can identify callers.
        push_configs: Keeps the webhooks of tasks; in memory when omitted.
        middleware: The agent's own middleware, such as authentication, after the check of `Host` and `Origin` and before the limit of the
            body. Over HTTP only.
        grpc_user: Identifies the caller of a gRPC call by its metadata. Without it all are anonymous, so
            that gRPC is refused to an agent that has `middleware`.
        pending_input: The policy for tasks that wait for their user; usually the agent.
        preparation: What the agent does about a message before its turn begins.
        deletion: How conversations are deleted, and when by themselves; callers cannot delete them when omitted.
        message_answers: Answer messages of the agent's own extensions.
        queue: The turns of all replicas of the agent, each of which runs some; this process runs its own when omitted.
        hold: Keeps commands that work on the stored data from a conversation whose turns are held, where there is no `queue`.
        consent: Decides who may approve; with a key of this process alone when omitted.
        authenticator: Identifies the callers, over HTTP and gRPC; everyone may call when omitted.
        url: Where the agent is reached; needed with `authenticator`.
        takes_files: Whether the executor reads parts that are neither text nor JSON objects: files, addresses
            of files, lists, where the card's input modes name their type. They are refused otherwise, since they
            would be left out in silence.
        page: Whether browsers get a page at `/`.
        page_login: The login of the page; without it users enter a key or a token.
        sizes: Bytes of what is stored, by kind, for `/metrics`.
        free_bytes: Returns the free bytes of its storage; called in a thread. No space is kept free when omitted.
    """

    card: AgentCard
    executor: AgentExecutor
    log: TaskLog
    runs: RunStore = field(default_factory=MemoryRuns)
    readiness: Callable[[], Awaitable[Readiness]] = always_ready
    on_start: Hook = nothing
    on_stop: Hook = nothing
    extended_card: AgentCard | None = None
    push_configs: PushConfigs = field(default_factory=PushConfigs)
    middleware: Sequence[Middleware] = field(default=())
    grpc_user: UserOf | None = None
    pending_input: PendingInputPolicy = field(default_factory=NoPendingInput)
    preparation: Preparation | None = None
    deletion: DeletionPlan | None = None
    message_answers: Sequence[MessageAnswers] = ()
    queue: TurnQueue | None = None
    hold: Hold = nobody_else
    takes_files: bool = False
    consent: Consent = field(default_factory=Consent)
    authenticator: Authenticator | None = None
    url: str = ""
    page: bool = False
    page_login: PageLogin | None = None
    sizes: Callable[[], Awaitable[Mapping[str, int]]] = nothing_stored
    free_bytes: Callable[[], int] | None = None
