"""Refuses an answer whose data does not fill the form of the question; the question stays open.

An answer in text is accepted for any form: the agent reads it. For a form that asks for approval, the agent that asked
decides, because any answer that is not an approval is a no.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from a2a.types.a2a_pb2 import Message, Part, Task
from a2a.utils.errors import InvalidParamsError
from google.protobuf import json_format

from utils.a2a_common.protocol.asked import form_of
from utils.a2a_common.tasks.open_question import open_question
from utils.messages.approval import digest_in_form
from utils.messages.filled_form import complaint_about_answer, has_fields

_OF_EXTENSION = "urn:"

NO_OBJECT = "the data must be an object with the form's fields"
UNFILLED = "The answer does not fill the form of the question: {complaint}. The question stays open."


def check_form(task: Task, message: Message) -> None:
    """Check the data of an answer against the form of the question: objects, which are merged.

    Raises:
        InvalidParamsError: Names the field and what is wrong with it, or says that only objects fill a form.
    """
    form = form_of(open_question(task))
    parts = [each for each in message.parts if _fills_fields(each)]
    if not form or not parts or digest_in_form(form):
        return
    complaint = _complaint(form, parts, worded=any(part.text for part in message.parts))
    if complaint:
        raise InvalidParamsError(UNFILLED.format(complaint=complaint))


def _complaint(form: Mapping[str, Any], parts: Sequence[Part], *, worded: bool) -> str:
    values = [json_format.MessageToDict(part.data) for part in parts]
    if not has_fields(form):
        return ""
    if not all(isinstance(value, Mapping) for value in values):
        return NO_OBJECT
    data = {name: field for value in values for name, field in value.items()}
    return complaint_about_answer(form, data, whole=not worded)


def _fills_fields(part: Part) -> bool:
    """Whether a part is data that does not belong to an extension."""
    fields = part.data.struct_value.fields
    return part.HasField("data") and not any(name.startswith(_OF_EXTENSION) for name in fields)
