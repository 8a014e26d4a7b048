"""A model that wants to comment on an issue at GitHub when it is asked to, and that tells what the tool said."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from utils.testing.strict_provider import Call, ChatRequest, Reply


def commenting(comment: Mapping[str, Any]) -> Callable[[ChatRequest], Reply]:
    """The model, whose tool is called with `comment`."""

    def brain(request: ChatRequest) -> Reply:
        last = request.messages[-1]
        if last.role == "tool":
            return Reply(f"The tool said: {last.text}")
        if "omment" in request.last_user_text:
            return Reply("", [Call(f"c{len(request.messages)}", "comment_on_issue", dict(comment))])
        return Reply("I looked.")

    return brain
