"""Builds the protocol message to an agent: a user's, or that of a delegation. Pure, except that a missing id is generated."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4, uuid5

from utils.a2a_common.protocol.answer_proof import answers_payload, proof_payload
from utils.a2a_common.protocol.extensions import QUESTION_EXTENSION
from utils.a2a_common.protocol.parts import data_part, encode_part

if TYPE_CHECKING:
    from a2a.types.a2a_pb2 import Message

    from utils.a2a_common.protocol.delegation_context import DelegationContext
    from utils.events import DataPart
    from utils.persistence.delegations import DelegationRecord

NAMESPACE = UUID("a3a0f5c6-8f7e-4d0c-8a62-3f2f5f8f5b1d")
"""Of the ids that are made for delegations."""


def user_message(
    text: str,
    *,
    context_id: str,
    task_id: str = "",
    message_id: str = "",
    parts: Iterable[DataPart] = (),
    data: Iterable[Mapping[str, Any]] = (),
    secret: str = "",
    question: str = "",
) -> Message:
    """A message with a text part (omitted if the text is empty), the `parts` unchanged, and a part for each of `data`.

    With `secret` it shows that it comes from the same sender as every other message with it; with `question`, the id of the
    question that its sender has read.
    """
    from a2a.types.a2a_pb2 import Message, Part, Role

    texts = [Part(text=text)] if text else []
    message = Message(
        message_id=message_id or str(uuid4()),
        context_id=context_id,
        task_id=task_id,
        role=Role.ROLE_USER,
        parts=[*texts, *map(encode_part, parts), *map(data_part, data)],
    )
    if secret:
        message.metadata.update(proof_payload(secret))
    if question:
        message.metadata.get_or_create_struct(QUESTION_EXTENSION).update(answers_payload(question))
    return message


@dataclass(frozen=True, slots=True)
class RemoteCall:
    """One message to a remote agent: a request, or the user's answer to its question.

    Attributes:
        call_id: The tool call that caused it.
        text: The text of the request or of the answer.
        message_id: Deterministic, so that the same call is never a second message.
        context_id: The remote conversation.
        scope: The delegation context that is sent along; `None` for an agent that would not take it.
        deadline: Seconds to wait for the end.
        task_id: The remote task that an answer is for; empty for a request.
        parts: Structured parts of an answer, as the user's client sent them.
        maybe_sent: Whether an earlier run may have sent it: then it is looked for first.
        known_task: The remote task that the message is known to have begun; empty where it is not known.
        secret: Shows that the answers of a delegation come from its sender.
        question: Id of the question that an answer is for; empty where it is not known.
        seen: Marks of the artifacts that the task had when it asked last.
        restart_seconds: How long the message is sent again while the agent cannot be reached, as while it restarts.
    """

    call_id: str
    text: str
    message_id: str
    context_id: str
    scope: DelegationContext | None
    deadline: float
    task_id: str = ""
    parts: Sequence[DataPart] = ()
    maybe_sent: bool = False
    known_task: str = ""
    restart_seconds: float = 0.0
    secret: str = ""
    question: str = ""
    seen: Sequence[str] = ()

    def message(self, *, signed: bool) -> Message:
        """The message to send; if `signed`, with the nonce and the name of the question."""
        data = [self.scope.to_payload()] if self.scope else []
        return user_message(
            self.text,
            context_id=self.context_id,
            task_id=self.task_id,
            message_id=self.message_id,
            parts=self.parts,
            data=data,
            secret=self.secret if signed else "",
            question=self.question if signed else "",
        )


def message_id_of(kept: DelegationRecord, number: int) -> str:
    """Id of a delegation's message: the request (0) or a reply, the same after any restart."""
    return str(uuid5(NAMESPACE, f"{kept.id}/{number}")) if number else kept.id
