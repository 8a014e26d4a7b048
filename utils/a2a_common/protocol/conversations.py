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
"""Conversations of one page: at most, and where nothing is asked for."""


class Action(StrEnum):
    """What can be asked."""

    LIST = "list"
    RENAME = "rename"
    EXPORT = "export"
    DELETE = "delete"


class Reason(StrEnum):
    """Why an agent still has what it was told."""

    FOREIGN = "foreign"
    """It belongs to somebody else, or knows no deletion."""
    UNREACHABLE = "unreachable"
    """It did not answer that it has deleted it."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a client asks of its conversations.

    Attributes:
        action: What is to be done.
        context_id: With which conversation; empty for a list.
        title: Its new title; empty takes it away.
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
    """An agent that still has what it was told in a conversation that was deleted.

    Attributes:
        agent: Its name; with the names of those before it where it stands behind others.
        reason: Why.
    """

    agent: str
    reason: Reason


def conversations_part(asked: Asked) -> dict[str, Any]:
    """The data part of a message that asks."""
    told: dict[str, Any] = {"action": asked.action.value}
    if asked.action is Action.LIST:
        told["limit"] = asked.limit
    else:
        told["contextId"] = asked.context_id
    if asked.action is Action.RENAME:
        told["title"] = asked.title
    if asked.page_token:
        told["pageToken"] = asked.page_token
    if asked.here_only:
        told["hereOnly"] = True
    return {CONVERSATIONS_EXTENSION: told}


def conversations_asked(data: Iterable[Mapping[str, Any]]) -> Asked | None:
    """What a message's data parts ask; `None` if nothing.

    Raises:
        MalformedRequest: It cannot be understood.
    """
    told = request_in(data, CONVERSATIONS_EXTENSION)
    if told is None:
        return None
    try:
        action = Action(str(told.get("action")))
    except ValueError:
        raise MalformedRequest(f"action must be one of {', '.join(Action)}.") from None
    asked = Asked(
        action,
        context_id=_text(told, "contextId"),
        title=" ".join(_text(told, "title").split()),
        limit=_limit(told.get("limit", DEFAULT_LISTED)),
        page_token=_text(told, "pageToken"),
        here_only=told.get("hereOnly") is True,
    )
    if action is not Action.LIST and not asked.context_id:
        raise MalformedRequest("contextId is missing: it names the conversation.")
    if action is Action.RENAME and "title" not in told:
        raise MalformedRequest("title is missing; an empty one takes the title away.")
    if len(asked.title) > LONGEST_TITLE or not asked.title.isprintable():
        raise MalformedRequest(f"title must have at most {LONGEST_TITLE} characters, all of them visible.")
    return asked


def answer_part(answer: Mapping[str, Any]) -> dict[str, Any]:
    """The data part of an answer."""
    return {CONVERSATIONS_EXTENSION: dict(answer)}


def kept_payload(kept: Iterable[Kept]) -> list[dict[str, str]]:
    """The JSON of those that still have what they were told."""
    return [{"agent": each.agent, "reason": each.reason.value} for each in kept]


def parse_kept(told: object) -> Sequence[Kept]:
    """Those of an answer; what is malformed is left out, and an unknown reason counts as unreachable."""
    found = [each for each in told if isinstance(each, Mapping)] if isinstance(told, list) else []
    return [
        Kept(
            str(each.get("agent", "")),
            Reason.FOREIGN if each.get("reason") == "foreign" else Reason.UNREACHABLE,
        )
        for each in found
    ]


def _text(told: Mapping[str, Any], name: str) -> str:
    value = told.get(name, "")
    if not isinstance(value, str):
        raise MalformedRequest(f"{name} must be a text.")
    return value


def _limit(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 1 <= value <= MOST_LISTED:
        raise MalformedRequest(f"limit must be a number from 1 to {MOST_LISTED}.")
    return int(value)
