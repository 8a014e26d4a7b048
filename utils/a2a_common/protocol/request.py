"""`AgentRequest`: one turn as the agent sees it, parsed once from the A2A message. Frozen."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from utils.a2a_common.protocol.delegation_context import DelegationContext
from utils.a2a_common.protocol.media_modes import ALL, Accepted
from utils.events import ContentPart, FileBytes, FileUrl, Usage
from utils.resilience.budget import Meter

ANSWERED_TASK = "answered_task"
"""Key in the state of a call: the task whose question the message answers, although it does not name the task."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks. `name` is empty for an anonymous caller; `tenant` is empty outside tenants."""

    name: str = ""
    tenant: str = ""


@dataclass(frozen=True, slots=True)
class AgentRequest:
    """One turn.

    Attributes:
        text: The user's text: the text parts of the message, joined by line ends.
        data: Parts that are JSON objects, in order (a delegation's scoped context, a form's answer).
        parts: Everything that the message holds, in order: text, files, data of any kind. Names and addresses are the
            sender's: data, never trusted.
        delegation: The context from the agent that delegated this task; `None` if it was not delegated.
        task_id: A2A task of this turn.
        context_id: A2A context, which is the conversation.
        message_id: Id of the user's message.
        thread_id: Key of the conversation's checkpoints: agent, tenant, owner and context.
        caller: Who asks.
        resumes: Whether the message answers a question of the same task.
        approves: Digest of what the question that the message answers asked to approve, as the server checked it: nothing else is
            approved by the answer. Empty for a question that asked for none; `None` where the agent is called without a server.
        recovered: Whether the turn continues after its process died: what it had done so far is in the stores.
        judged: Whether that was decided by the content of the message, which does not name the task.
        repeats: Whether the message has the same text as the request that its task began with.
        metadata: Metadata of the message, as received: data, never trusted.
        extensions: URIs of the extensions that the client requests.
        deadline: `time.monotonic()` after which the answer is too late; `None` for no limit.
        used: Tokens that earlier turns of the same task used, by agent.
        accepted: Media types that the client accepts in the answer.
        meter: Counts what the task uses. It changes while the request is worked on.
        known: What is known of the user from earlier conversations, as a part of the system message of this turn's model
            requests; it is stored nowhere with the conversation, and no other agent gets it.
        suspended: Set before the turn is stopped in order to continue in another process: then no open tool call is
            closed, and nothing is cancelled at other agents. Not set for a cancellation or a deadline.
    """

    text: str
    task_id: str
    context_id: str
    message_id: str
    thread_id: str
    caller: Caller = field(default_factory=Caller)
    data: Sequence[Mapping[str, Any]] = ()
    parts: Sequence[ContentPart] = ()
    delegation: DelegationContext | None = None
    resumes: bool = False
    approves: str | None = None
    recovered: bool = False
    judged: bool = False
    repeats: bool = False
    metadata: Mapping[str, Any] = field(default_factory=dict)
    extensions: frozenset[str] = frozenset()
    deadline: float | None = None
    used: Mapping[str, Usage] = field(default_factory=dict)
    accepted: Accepted = ALL
    known: str = ""
    meter: Meter = field(default_factory=Meter, compare=False)
    suspended: asyncio.Event = field(default_factory=asyncio.Event, compare=False)

    @property
    def turn_id(self) -> str:
        """Id of the user's message in the conversation's state; empty for a message without an id.

        The id of the message alone may come twice: a message whose task failed is sent again as another task, and there
        are clients that number their messages. LangGraph replaces a message by one with the same id, in its old place.
        """
        return f"{self.message_id}:{self.task_id}" if self.message_id else ""

    @property
    def files(self) -> list[FileBytes | FileUrl]:
        """The files of the message, with their content or their address."""
        return [part for part in self.parts if isinstance(part, FileBytes | FileUrl)]
