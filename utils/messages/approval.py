"""An explicit yes to something that was shown, and how to show it so that nothing hides. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

YES = frozenset(
    {"yes", "y", "yes, send it", "yes send it", "send it", "approve", "approved", "i approve", "yes, approve"}
)
"""The words that approve, alone and in this spelling; case, spaces around and a last full stop do not matter."""

LONGEST_SHOWN = 6_000
"""Characters of what is to be approved at most: a person must be able to read all of it in one question."""

_WORDS_OF_A_REPLY = 64
"""Characters read of an answer; every yes is shorter."""
_RUN = re.compile(r"`{3,}")


def approval_form(title: str, digest: str) -> dict[str, Any]:
    """The JSON schema of the answer; `digest` ties it to what was shown."""
    return {
        "type": "object",
        "title": title,
        "properties": {
            "approve": {"type": "boolean", "title": "Send it"},
            "digest": {"type": "string", "const": digest},
        },
        "required": ["approve"],
        "additionalProperties": False,
    }


def approves(reply: Any, digest: str) -> bool:
    """Whether an answer is an explicit yes to what has this digest.

    Words count only when they are one of `YES` and nothing else; a filled form counts only with
    `approve` true and, where it names a digest, the right one. Where both came, both must agree.

    Args:
        reply: What the graph was resumed with: words, or `{"text": …, "data": […]}`.
        digest: Of what was asked about.
    """
    text, forms = _parts(reply)
    if not text and not forms:
        return False
    return (not text or _is_yes(text)) and all(_form_approves(form, digest) for form in forms)


def _parts(reply: Any) -> tuple[str, list[Any]]:
    """The words and the forms of an answer; anything else counts as words that are no yes."""
    if not isinstance(reply, Mapping):
        return str(reply).strip(), []
    data = reply.get("data")
    return str(reply.get("text", "")).strip(), list(data) if isinstance(data, list | tuple) else []


def _is_yes(text: str) -> bool:
    """ASCII only, so that no look-alike of a letter counts."""
    return len(text) <= _WORDS_OF_A_REPLY and text.isascii() and text.lower().removesuffix(".") in YES


def _form_approves(form: Any, digest: str) -> bool:
    if not isinstance(form, Mapping) or not set(form) <= {"approve", "digest"}:
        return False
    return form.get("approve") is True and form.get("digest", digest) == digest


def fenced(text: str, language: str = "text") -> str:
    """A text in a fence that it does not contain itself, so that it cannot look like a part of the question."""
    longest = max((len(run) for run in _RUN.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"
