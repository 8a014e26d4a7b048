"""Why an answer cannot be read: the field and its error. Pure.

The libraries that parse an answer may quote it in their errors, so that all of it is cut and cleaned.
"""

from __future__ import annotations

import re

from utils.a2a_common.client.transport.peer_text import one_line
from utils.observability.redaction import redact_text

LONGEST_REASON = 200
"""Characters of a reason at most."""

_FIELD = re.compile(r"Failed to parse (\S{1,60}) field: ")
_MOST_FIELDS = 8
_WHERE = re.compile(r"(?: at [A-Z]\w{1,60}(?:[.\[][\w\].\[]{0,120})?)?\.{0,9}$")


def reason_of(error: Exception) -> str:
    """Why an answer cannot be read, from the parser's error."""
    from google.protobuf.json_format import ParseError
    from pydantic import ValidationError

    match error:
        case ParseError():
            return _of_fields(str(error)[: 10 * LONGEST_REASON])
        case ValidationError():
            first = error.errors(include_input=False, include_url=False, include_context=False)[0]
            return cut(": ".join(filter(None, (".".join(map(str, first["loc"])), first["msg"]))))
        case _:
            return cut(f"{type(error).__name__}: {error}")


def cut(text: str) -> str:
    """A reason on one line, without invisible characters and what looks like a secret, as long as it may be."""
    return redact_text(one_line(text, LONGEST_REASON))


def _of_fields(text: str) -> str:
    fields: list[str] = []
    while len(fields) < _MOST_FIELDS and (found := _FIELD.match(text)):
        fields.append(found[1])
        text = text[found.end() :]
    wrong = _WHERE.sub("", text, count=1).rstrip(".")
    return cut(": ".join(filter(None, (".".join(fields), wrong))))
