"""Recognises an explicit approval of something that was shown, and shows it so that no part is hidden. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from utils.errors import UpstreamRefused

YES = frozenset(
    {"yes", "y", "send it", "approve", "approved", "i approve"}
    | {
        f"yes{joint}{more}"
        for joint in (" ", ", ")
        for more in ("please", "send it", "approve", "go ahead", "do it")
    }
)
"""The texts that approve. Case, surrounding spaces and full stops or exclamation marks at the end are ignored; nothing else is."""

LONGEST_SHOWN = 6_000
"""Most characters of what is to be approved, since a person must be able to read all of it in one question."""

_WORDS_OF_A_REPLY = 64
"""Longest reply that can approve, in characters."""
_RUN = re.compile(r"`{3,}")


class NotApproved(UpstreamRefused):
    """The user was asked for a yes and did not give one."""

    advice = "Do not try again unless the user asks for it."


def approval_form(title: str, digest: str) -> dict[str, Any]:
    """The JSON schema of the answer; `digest` binds it to what was shown."""
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


def digest_in_form(form: Mapping[str, Any]) -> str:
    """The digest of what a form asks to approve; empty for a form that asks for something else."""
    fields = form.get("properties")
    if not isinstance(fields, Mapping) or "approve" not in fields:
        return ""
    shown = fields.get("digest")
    return str(shown.get("const") or "") if isinstance(shown, Mapping) else ""


def approves(reply: Any, digest: str) -> bool:
    """Whether a reply explicitly approves what has this digest.

    A text approves if it is one of `YES` and nothing else. A form approves if `approve` is true and its
    digest, if it has one, is the right one. If the reply has both, both must approve.

    Args:
        reply: The value that the graph was resumed with: a text, or `{"text": …, "data": […]}`.
        digest: Digest of what was to be approved.
    """
    text, forms = _parts(reply)
    if not text and not forms:
        return False
    return (not text or _is_yes(text)) and all(_form_approves(form, digest) for form in forms)


def _parts(reply: Any) -> tuple[str, list[Any]]:
    """The text and the forms of a reply; any other value counts as a text."""
    if not isinstance(reply, Mapping):
        return str(reply).strip(), []
    data = reply.get("data")
    return str(reply.get("text", "")).strip(), list(data) if isinstance(data, list | tuple) else []


def _is_yes(text: str) -> bool:
    """Whether a text approves. Only ASCII does, so that no similar-looking letters count."""
    return len(text) <= _WORDS_OF_A_REPLY and text.isascii() and text.lower().rstrip(".! ") in YES


def _form_approves(form: Any, digest: str) -> bool:
    if not isinstance(form, Mapping) or not set(form) <= {"approve", "digest"}:
        return False
    return form.get("approve") is True and form.get("digest", digest) == digest


def fenced(text: str, language: str = "text") -> str:
    """A text in a code fence longer than any in it, so that it cannot end the fence and look like the question."""
    longest = max((len(run) for run in _RUN.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"
