"""The question before a change, and which answers are a yes. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agents.github.changes.change import Change

YES = frozenset(
    {"yes", "y", "yes, send it", "yes send it", "send it", "approve", "approved", "i approve", "yes, approve"}
)
"""The words that approve, alone and in this spelling; case, spaces around and a last full stop do not matter."""

_WORDS_OF_A_REPLY = 64
"""Characters read of an answer; every yes is shorter."""


def question_of(change: Change, api_url: str, warning: str = "") -> dict[str, Any]:
    """The value of the interrupt: question, who asks, and a form for clients that show forms."""
    parts = [
        f"May I send {change.what}? This is exactly what will be sent:",
        change.shown(api_url),
        warning,
        'Answer "yes" to send it. After any other answer nothing is sent.',
    ]
    return {
        "question": "\n\n".join(part for part in parts if part),
        "origin": "github",
        "form": form_of(change),
    }


def form_of(change: Change) -> dict[str, Any]:
    """The JSON schema of the answer; `digest` ties it to this change."""
    return {
        "type": "object",
        "title": f"Send {change.what}?",
        "properties": {
            "approve": {"type": "boolean", "title": "Send it"},
            "digest": {"type": "string", "const": change.digest},
        },
        "required": ["approve"],
        "additionalProperties": False,
    }


def approves(reply: Any, digest: str) -> bool:
    """Whether an answer is an explicit yes to the change with this digest.

    Words count only when they are one of `YES` and nothing else; a filled form counts only with
    `approve` true and, where it names a digest, the right one. Where both came, both must agree.

    Args:
        reply: What the graph was resumed with: words, or `{"text": …, "data": […]}`.
        digest: Of the change that was asked about.
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
