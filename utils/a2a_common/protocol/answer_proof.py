"""The proof that an answer to a question comes from the one who was asked, in the metadata of messages. Pure.

Under the question extension a message may carry `nonce_sha256`, the digest of a secret of its sender, and an answer `nonce`:
that secret, or the one that came with the question. The nonce of an answer is not stored. `answers` names the question that its sender has
read, by the id of its message.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from utils.a2a_common.protocol.extensions import QUESTION_EXTENSION
from utils.auth.nonce import digest_of

if TYPE_CHECKING:
    from a2a.types.a2a_pb2 import Message

_NONCE, _DIGEST, _ANSWERS = "nonce", "nonce_sha256", "answers"


def proof_payload(nonce: str) -> dict[str, Any]:
    """The metadata of a message whose sender has this secret."""
    return {QUESTION_EXTENSION: {_NONCE: nonce, _DIGEST: digest_of(nonce)}}


def answers_payload(question_id: str) -> dict[str, Any]:
    """What names the question that a message answers, in the same metadata."""
    return {_ANSWERS: question_id}


def named_question(message: Message) -> str:
    """The id of the question that a message answers by its own account; empty where it names none."""
    return _field(message, _ANSWERS)


def nonce_of(message: Message) -> str:
    """The secret that a message carries; empty where it has none."""
    return _field(message, _NONCE)


def known_digest(message: Message) -> str:
    """The digest of its sender's secret; empty where the sender named none."""
    return _field(message, _DIGEST)


def drop_nonce(message: Message) -> None:
    """Take the secret out of a message that is about to be stored or shown."""
    if nonce_of(message):
        del message.metadata.fields[QUESTION_EXTENSION].struct_value.fields[_NONCE]


def add_nonce(question: Message, nonce: str) -> None:
    """Put the secret that answers a question beside it, for the one who is asked."""
    question.metadata.fields[QUESTION_EXTENSION].struct_value.fields[_NONCE].string_value = nonce


def _field(message: Message, name: str) -> str:
    if QUESTION_EXTENSION not in message.metadata:
        return ""
    payload = message.metadata.fields[QUESTION_EXTENSION]
    fields = payload.struct_value.fields
    return fields[name].string_value if payload.HasField("struct_value") and name in fields else ""
