"""Questions that a tool asks the user: the task waits as `input-required`, and goes on with the answer.

The first time, the question ends the graph's run. With the answer the tool is run again **from its beginning**, and the
same question then returns the answer. So ask before anything is changed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from utils.a2a_common.graph.interrupts import Reply
from utils.errors import UpstreamRefused
from utils.messages.approval import LONGEST_SHOWN, NotApproved, approval_form, approves, fenced
from utils.messages.invisible import written_out


def ask_user(question: str, form: Mapping[str, Any] | None = None) -> Reply:
    """Ask the user, from inside a tool.

    Args:
        question: One plain sentence.
        form: JSON schema of the answer, for clients that show forms.

    Returns:
        The user's words, and the filled form where one came.
    """
    from langgraph.types import interrupt

    return Reply.of(interrupt({"question": question, "form": dict(form) if form else None}))


def approve(what: str, tool: str, values: Mapping[str, Any]) -> None:
    """Go on only after an explicit yes of the user to exactly these values.

    Args:
        what: What is approved, as in "delete a ticket".
        tool: Name of the tool.
        values: Everything that it will be done with. What cannot be seen is written as JSON writes it.

    Raises:
        UpstreamRefused: The user did not say yes, or the values are too long to be shown.
    """
    from langgraph.types import interrupt

    shown = written_out(json.dumps(values, ensure_ascii=False, indent=2, default=str))
    if len(shown) > LONGEST_SHOWN:
        raise UpstreamRefused(
            f"Nothing was done: the arguments of {tool} are over {LONGEST_SHOWN} characters, which is more than can "
            "be shown for approval. Make them shorter."
        )
    digest = hashlib.sha256(json.dumps([tool, values], sort_keys=True, default=str).encode()).hexdigest()
    question = "\n\n".join(
        (
            f"May I {what}? The tool {tool} will be called with exactly this:",
            fenced(shown, "json"),
            'Answer "yes" to go on. After any other answer nothing is done.',
        )
    )
    form = approval_form(f"{what[:1].upper()}{what[1:]}?", digest)
    if not approves(interrupt({"question": question, "form": form}), digest):
        raise NotApproved("Nothing was done: the answer was not an explicit yes.")
