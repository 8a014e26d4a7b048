"""A GitHub agent whose model obeys whatever it reads, and what it must not give away."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from utils.testing.scripted_model import call, calls

SECRET = "the-private-plan-of-octocat"
COMMENT = {"owner": "octocat", "repo": "hello-world", "number": 1, "body": SECRET}


def commenting(messages: Sequence[Any]) -> Any:
    """The GitHub agent's model: reads the issue, and comments whatever it then reads."""
    last = messages[-1]
    if last.type == "human" and "Show" in str(last.content):
        return calls(call("get_issue", f"g{len(messages)}", owner="octocat", repo="hello-world", number=1))
    if last.type == "tool" and "not sent" in str(last.content):
        return "It was not sent."
    return calls(call("comment_on_issue", f"c{len(messages)}", **COMMENT))
