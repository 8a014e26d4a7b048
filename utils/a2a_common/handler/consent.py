"""Who may answer a question that asks for approval.

Callers without credentials share one scope, so that the id of a task is no proof. The answer must carry a secret: the one that
the question brought to the client that began the task, or the sender's own, whose digest the first message of the task carried.
"""

from __future__ import annotations

import copy
import secrets
from typing import TypeVar

from a2a.server.context import ServerCallContext
from a2a.server.events.event_queue import Event
from a2a.types.a2a_pb2 import Message, Role, Task, TaskStatusUpdateEvent
from a2a.utils.errors import UnsupportedOperationError

from utils.a2a_common.handler.callers import principal_in
from utils.a2a_common.handler.read_questions import check_named, check_read
from utils.a2a_common.protocol.answer_proof import add_nonce, known_digest, nonce_of
from utils.a2a_common.protocol.asked import approval_digest
from utils.a2a_common.protocol.forbidden import Forbidden
from utils.a2a_common.tasks.open_question import open_question
from utils.a2a_common.tasks.states import INTERRUPTED
from utils.auth.nonce import digest_of, nonce_for, same
from utils.auth.principal import PrincipalKind, Right, scope_for
from utils.auth.secret_file import SECRET_BYTES

AnyEvent = TypeVar("AnyEvent", bound=Event)

UNPROVEN = (
    "Not approved: this agent does not know who its callers are, so only the browser tab, terminal or program that sent the request "
    "can approve it. Answer there, or send the request again from here. How a program shows that it sent the request: docs/a2a.md."
)

MAY_NOT_APPROVE = (
    "Your credentials do not allow approvals. The question stays open for somebody who may approve."
)


class Consent:
    """Gives out and checks the secrets of answers.

    Args:
        key: Makes the secrets; the same for all processes that serve the same tasks. A random one when omitted.
        agent: Name of the agent, for the scope that approves.
    """

    def __init__(self, key: bytes | None = None, agent: str = "") -> None:
        self._key = key or secrets.token_bytes(SECRET_BYTES)
        self._agent = agent

    def proven(self, task: Task, message: Message) -> bool:
        """Whether a message to a waiting task comes from the client that began it, as far as that is known."""
        nonce = nonce_of(message)
        if not nonce:
            return False
        first = next((each for each in task.history if each.role == Role.ROLE_USER), None)
        own = known_digest(first) if first is not None else ""
        return same(nonce, self._nonce(task.id, open_question(task))) or same(digest_of(nonce), own)

    def check(self, task: Task, message: Message, call: ServerCallContext, *, elsewhere: bool) -> None:
        """Refuse an approval if its sender cannot be identified, or has not read the question that it would approve.

        Args:
            task: The task that waits.
            message: The answer.
            call: Who sends it.
            elsewhere: Whether it may be meant for another task of the conversation.

        Raises:
            UnsupportedOperationError: The question stays open, or the message answers one that is no longer open.
            Forbidden: The question stays open, since the known caller may not approve.
        """
        check_named(task, message)
        asks = approval_digest(open_question(task))
        caller = principal_in(call)
        if asks and caller is not None and not caller.may_approve(self._agent, asks):
            raise Forbidden(MAY_NOT_APPROVE, scope_for(self._agent, Right.APPROVE))
        if asks and not call.user.is_authenticated and not self.proven(task, message):
            raise UnsupportedOperationError(UNPROVEN)
        by_agent = (
            caller is not None and caller.kind is PrincipalKind.AGENT
        )  # it has shown the digest of what its user approved
        if not by_agent and not same(nonce_of(message), self._nonce(task.id, open_question(task))):
            check_read(task, message, elsewhere=elsewhere)

    def with_nonce(self, event: AnyEvent) -> AnyEvent:
        """The event for the client that began the task; a question gets its nonce, even if it asks for no approval.

        The answer to an ordinary question identifies its sender as well, so that the next question, which may ask for approval,
        is sent with its secret too.
        """
        if not isinstance(event, Task | TaskStatusUpdateEvent):
            return event
        if event.status.state not in INTERRUPTED or not event.status.HasField("message"):
            return event
        task_id = event.id if isinstance(event, Task) else event.task_id
        shown = copy.deepcopy(event)
        add_nonce(shown.status.message, self._nonce(task_id, event.status.message))
        return shown

    def _nonce(self, task_id: str, question: Message) -> str:
        return nonce_for(self._key, task_id, question.message_id)
