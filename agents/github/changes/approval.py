"""The approval question for a change. Pure."""

from __future__ import annotations

from agents.github.changes.change import NOTHING, Change
from utils.messages.question import Question, approval_question


def question_of(change: Change, api_url: str, warning: str = "", login: str = "") -> Question:
    """The question, its origin, and a form for clients that show forms.

    Args:
        change: What would be sent.
        api_url: Where.
        warning: What the user should know before.
        login: The user's account at GitHub, in whose name it would be sent; empty for the shared token's.

    Raises:
        UpstreamRefused: The question would be too long.
    """
    name = f" in your name, {login}" if login else ""
    parts = [
        f"May I send {change.what}{name}? This is exactly what will be sent:",
        change.shown(api_url),
        warning,
        'Answer "yes" to send it. After any other answer nothing is sent.',
    ]
    return approval_question(parts, f"Send {change.what}?", change.digest, nothing=NOTHING, origin="github")
