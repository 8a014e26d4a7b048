"""Recognises an explicit approval of something that was shown, and shows it so that no part is hidden. Pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
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
"""Most characters of what is to be approved, as it is shown: a person must be able to read all of it in one question."""

LONGEST_QUESTION = 8_000
"""Most characters of a whole question for approval: what is shown, and what is said around it."""

_WORDS_OF_A_REPLY = 64
"""Longest reply that can approve, in characters."""
_CODE_DIGITS = 6
"""Of the code of a question: enough that no two questions of a task share one, few enough to type."""
_CODE = re.compile(r"[0-9a-f]{6}")
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


def check_shown(what: str, texts: Iterable[str], nothing: str) -> None:
    """Check that texts can be shown whole, each in a fence of its own.

    Args:
        what: Whose texts they are.
        texts: What `fenced` is given.
        nothing: What is said where they are too long, as in "Nothing was sent".

    Raises:
        UpstreamRefused: They are longer than what may be shown.
    """
    length = sum(len(fenced(text)) - len(fenced("")) for text in texts)
    if length > LONGEST_SHOWN:
        raise UpstreamRefused(
            f"{nothing}: {what} takes {length} characters as it would be shown, and at most {LONGEST_SHOWN} can be shown for "
            "approval. Make it shorter; backticks in a row count three times."
        )


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


def says_yes(text: str) -> bool:
    """Whether words approve, alone or with the code of a question behind them."""
    words, _, last = text.strip().rstrip(".! ").rpartition(" ")
    return _is_yes(text.strip()) or (
        _CODE.fullmatch(last.lower()) is not None and _is_yes(words.rstrip(", "))
    )


def code_of(question_id: str) -> str:
    """A short name of a question, which a person can type behind a yes; another one for each question of a task."""
    return hashlib.sha256(question_id.encode()).hexdigest()[:_CODE_DIGITS]


def without_code(text: str, code: str) -> str:
    """The words of an answer without the code of its question; any other text as it is."""
    words, _, last = text.strip().rstrip(".! ").rpartition(" ")
    return words.rstrip(", ") if last.lower() == code and says_yes(text) else text


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
