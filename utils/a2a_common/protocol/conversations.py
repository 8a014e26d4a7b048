"""The extension for a person's conversations: a data part that lists, renames, exports or deletes them, and the answer. Pure.

No model answers such a message, and no task is made of it: the answer is a message with a sentence and a data part.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from utils.a2a_common.protocol.extension_data import MalformedRequest, request_in

CONVERSATIONS_EXTENSION = "urn:platform-engineer:ext:conversations:v1"

LONGEST_TITLE = 200
"""Most characters of a title."""

MOST_LISTED = 100
DEFAULT_LISTED = 50
"""Conversations of one page: the maximum, and the default."""


class Action(StrEnum):
    """What a client can request."""

    LIST = "list"
    RENAME = "rename"
    EXPORT = "export"
    DELETE = "delete"


class Reason(StrEnum):
    """Why an agent still has data of a deleted conversation."""

    FOREIGN = "foreign"
    """It is a foreign agent, or does not support deletion."""
    UNREACHABLE = "unreachable"
    """It did not confirm the deletion."""


@dataclass(frozen=True, slots=True)
class ConversationsRequest:
    """A client's request about its conversations.

    Attributes:
        action: What to do.
        context_id: The conversation; empty for a list.
        title: Its new title; empty removes the title.
        limit: Conversations of one page.
        page_token: Where the page begins; empty for the first.
        here_only: Whether it is deleted here also where an agent behind this one does not delete it.
    """

    action: Action
    context_id: str = ""
    title: str = ""
    limit: int = DEFAULT_LISTED
    page_token: str = ""
    here_only: bool = False


@dataclass(frozen=True, slots=True)
class Kept:
    """An agent that still has data of a conversation that was deleted.

    Attributes:
        agent: Its name; preceded by the names of the agents in front of it, if any.
        reason: Why.
    """

    agent: str
    reason: Reason


def conversations_part(asked: ConversationsRequest) -> dict[str, Any]:
    """The data part of a request."""
    payload: dict[str, Any] = {"action": asked.action.value}
    if asked.action is Action.LIST:
        payload["limit"] = asked.limit
    else:
        payload["contextId"] = asked.context_id
    if asked.action is Action.RENAME:
        payload["title"] = asked.title
    if asked.page_token:
        payload["pageToken"] = asked.page_token
    if asked.here_only:
        payload["hereOnly"] = True
    return {CONVERSATIONS_EXTENSION: payload}


def parse_conversations_request(data: Iterable[Mapping[str, Any]]) -> ConversationsRequest | None:
    """The request in a message's data parts; `None` if there is none.

    Raises:
        MalformedRequest: It cannot be understood.
    """
    payload = request_in(data, CONVERSATIONS_EXTENSION)
    if payload is None:
        return None
    try:
        action = Action(str(payload.get("action")))
    except ValueError:
        raise MalformedRequest(f"action must be one of {', '.join(Action)}.") from None
    asked = ConversationsRequest(
        action,
        context_id=_text(payload, "contextId"),
        title=" ".join(_text(payload, "title").split()),
        limit=_limit(payload.get("limit", DEFAULT_LISTED)),
        page_token=_text(payload, "pageToken"),
        here_only=payload.get("hereOnly") is True,
    )
    if action is not Action.LIST and not asked.context_id:
        raise MalformedRequest("contextId is missing: it names the conversation.")
    if action is Action.RENAME and "title" not in payload:
        raise MalformedRequest("title is missing; an empty one takes the title away.")
    if len(asked.title) > LONGEST_TITLE or not asked.title.isprintable():
        raise MalformedRequest(f"title must have at most {LONGEST_TITLE} characters, all of them visible.")
    return asked


def answer_part(answer: Mapping[str, Any]) -> dict[str, Any]:
    """The data part of an answer."""
    return {CONVERSATIONS_EXTENSION: dict(answer)}


def kept_payload(kept: Iterable[Kept]) -> list[dict[str, str]]:
    """The JSON of the agents that still have data."""
    return [{"agent": each.agent, "reason": each.reason.value} for each in kept]


def parse_kept(value: object) -> Sequence[Kept]:
    """The agents in a response; malformed ones are left out, and an unknown reason counts as unreachable."""
    found = [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []
    return [
        Kept(
            str(each.get("agent", "")),
            Reason.FOREIGN if each.get("reason") == "foreign" else Reason.UNREACHABLE,
        )
        for each in found
    ]


def _text(payload: Mapping[str, Any], name: str) -> str:
    value = payload.get(name, "")
    if not isinstance(value, str):
        raise MalformedRequest(f"{name} must be a text.")
    return value


def _limit(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 1 <= value <= MOST_LISTED:
        raise MalformedRequest(f"limit must be a number from 1 to {MOST_LISTED}.")
    return int(value)
