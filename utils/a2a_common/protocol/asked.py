"""The form of a task's question, and what the form approves. Pure.

The form is part of the question whatever its client accepts, since it decides who may answer and how. Where the client takes JSON
it is a part of the message; otherwise it is in the message's metadata, under the question extension, which such clients
ignore.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from utils.a2a_common.protocol.extensions import QUESTION_EXTENSION
from utils.messages.approval import digest_in_form

if TYPE_CHECKING:
    from a2a.types.a2a_pb2 import Message

_FORM = "form"


def keep_form(question: Message, form: Mapping[str, Any]) -> None:
    """Keep the form of a question in its metadata, for a client that is not shown it."""
    question.metadata.get_or_create_struct(QUESTION_EXTENSION).update({_FORM: form})


def form_of(question: Message) -> Mapping[str, Any]:
    """The form of a question, a JSON schema; empty for a question of text only."""
    return next(_forms(question), {})


def approval_digest(question: Message) -> str:
    """Digest of what a question asks to approve; empty for a question that asks for something else."""
    return next(filter(None, map(digest_in_form, _forms(question))), "")


def _forms(question: Message) -> Iterator[Mapping[str, Any]]:
    from google.protobuf import json_format

    holders = [part.data.struct_value for part in question.parts if part.data.HasField("struct_value")]
    if QUESTION_EXTENSION in question.metadata.fields:
        holders.append(question.metadata.fields[QUESTION_EXTENSION].struct_value)
    for holder in holders:
        form = json_format.MessageToDict(holder).get(_FORM)
        if isinstance(form, Mapping):
            yield form
