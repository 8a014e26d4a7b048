"""The approval question for a change. Pure."""

from __future__ import annotations

from typing import Any

from agents.github.changes.change import Change
from utils.messages.approval import approval_form


def question_of(change: Change, api_url: str, warning: str = "") -> dict[str, Any]:
    """The value of the interrupt: the question, its origin, and a form for clients that show forms."""
    parts = [
        f"May I send {change.what}? This is exactly what will be sent:",
        change.shown(api_url),
        warning,
        'Answer "yes" to send it. After any other answer nothing is sent.',
    ]
    return {
        "question": "\n\n".join(part for part in parts if part),
        "origin": "github",
        "form": approval_form(f"Send {change.what}?", change.digest),
    }
