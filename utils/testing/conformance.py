"""The part of the contract that can be checked from outside, against any A2A agent at a URL.

Each check names the section of the A2A specification 1.0 that it verifies. Extensions of this project are not
expected of a foreign agent: what it does not declare is skipped, with the reason.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum

import httpx
from a2a.client import A2AClientError
from a2a.utils.errors import A2AError
from google.protobuf.json_format import ParseError

from utils.a2a_common.client.transport.errors import PeerError
from utils.testing.contract import (
    card_checks,
    leak_checks,
    list_checks,
    raw_checks,
    task_checks,
    wire_checks,
)
from utils.testing.contract.session import Broken, Session, Skipped, open_session

ASK = "Hello"
"""The default message to the agent."""

SECONDS = 60.0
"""Longest wait for one answer."""


class Outcome(StrEnum):
    """How a check went."""

    PASS = "pass"  # noqa: S105 - no password
    FAIL = "fail"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Check:
    """One rule. `section` is that of the A2A specification 1.0."""

    name: str
    section: str
    run: Callable[[Session], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Verdict:
    """A rule, and whether the agent keeps it; `reason` says what it did instead, or why the check was skipped."""

    check: str
    section: str
    outcome: Outcome
    reason: str = ""


CHECKS = (
    Check("the card has what clients need", "4.4.1", card_checks.card_is_complete),
    Check("the card's addresses are reachable", "8.2", card_checks.interfaces_are_reachable),
    Check("a message is answered with a task or a message", "3.1.1", task_checks.send_answers),
    Check("a context is generated", "3.4.1", task_checks.context_is_generated),
    Check("a client's context is kept", "3.4.1", task_checks.context_of_the_client_is_kept),
    Check("a stream begins with its task, or is one message", "3.1.2", task_checks.stream_begins_right),
    Check("the stream of a reply begins with its task", "3.1.2", task_checks.stream_of_a_reply_begins_right),
    Check("a stream ends once, and nothing follows", "3.1.2", task_checks.stream_ends_once),
    Check("a stream is about one task", "4.2.1", task_checks.stream_names_one_task),
    Check("chunks append to what exists", "4.2.2", task_checks.artifacts_are_appended_to_what_exists),
    Check("the last chunk is marked", "4.2.2", task_checks.last_chunk_is_marked),
    Check("a stored task says what was streamed", "3.1.3", task_checks.stored_task_says_the_same),
    Check("an unknown task is not found", "3.1.3", task_checks.unknown_task_is_not_found),
    Check("historyLength 0 means no history", "3.2.4", task_checks.history_of_length_0_is_none),
    Check(
        "a message to an unknown task is not found",
        "3.4.2",
        task_checks.message_to_an_unknown_task_is_refused,
    ),
    Check("tasks are listed without artifacts", "3.1.4", list_checks.tasks_are_listed),
    Check("a list says how many there are, and its next page", "3.1.4", list_checks.list_has_all_members),
    Check("a list of one context holds no other", "3.1.4", list_checks.list_is_of_one_context),
    Check("a page is no larger than asked for", "3.1.4", list_checks.list_is_cut_into_pages),
    Check("a running task can be cancelled", "3.1.5", task_checks.running_task_can_be_cancelled),
    Check("an ended task is not cancelable", "3.1.5", task_checks.ended_task_is_not_cancelable),
    Check("an ended task takes no message", "3.1.1", task_checks.ended_task_takes_no_message),
    Check("an ended task takes no subscriber", "3.1.6", task_checks.ended_task_takes_no_subscriber),
    Check("a task stays in its context", "3.4.2", task_checks.another_context_is_refused),
    Check("push is refused where not declared", "3.3.4", wire_checks.push_is_refused_where_not_declared),
    Check(
        "streaming is refused where not declared",
        "3.3.4",
        wire_checks.streaming_is_refused_where_not_declared,
    ),
    Check("an unknown version is refused", "3.6.2", wire_checks.unknown_version_is_refused),
    Check("malformed JSON is a parse error", "9.5", wire_checks.malformed_json_is_a_parse_error),
    Check("an unknown method is not found", "9.5", wire_checks.unknown_method_is_not_found),
    Check("a message without parts is refused", "3.3.2", wire_checks.message_without_parts_is_refused),
    Check("the id of a JSON-RPC request comes back", "9.1", raw_checks.ids_of_json_rpc_come_back),
    Check("messages have the right role", "4.1.4", raw_checks.messages_have_the_right_role),
    Check("states and roles have their names of 1.0", "5.5", raw_checks.enumerations_are_those_of_1_0),
    Check("fields are named in camelCase", "5.5", raw_checks.names_are_in_camel_case),
    Check("a failed task shows no internals", "3.3.2", leak_checks.failed_task_shows_no_internals),
    Check(
        "the error of an unknown task shows no internals",
        "3.3.2",
        leak_checks.unknown_task_shows_no_internals,
    ),
    Check("a parse error shows no internals", "3.3.2", leak_checks.parse_error_shows_no_internals),
)


class NoAgent(Exception):
    """There is no A2A agent at the address that could be checked. Says why."""


_WRONG_ANSWERS = (
    A2AError,
    A2AClientError,
    httpx.HTTPError,
    ParseError,
    ValueError,
    TypeError,
    KeyError,
    AttributeError,
)


async def conformance(url: str, *, ask: str = ASK, seconds: float = SECONDS) -> AsyncIterator[Verdict]:
    """Look at one rule after the other.

    Args:
        url: Where the agent's card is read.
        ask: The message to the agent: a request that it answers without a question.
        seconds: Longest wait for one answer.

    Raises:
        NoAgent: There is no card, or it names no interface that is spoken here.
    """
    try:
        async with open_session(url.rstrip("/"), ask, seconds) as session:
            for check in CHECKS:
                yield await _verdict(check, session)
    except (PeerError, httpx.HTTPError, ValueError) as error:
        raise NoAgent(
            f"There is no A2A agent at {url} that can be looked at: {_first_line(error)}"
        ) from error


async def _verdict(check: Check, session: Session) -> Verdict:
    try:
        await check.run(session)
    except Skipped as reason:
        return Verdict(check.name, check.section, Outcome.SKIPPED, str(reason))
    except Broken as reason:
        return Verdict(check.name, check.section, Outcome.FAIL, str(reason))
    except TimeoutError:
        reason_text = f"no answer within {session.seconds:g} seconds"
        return Verdict(check.name, check.section, Outcome.FAIL, reason_text)
    except _WRONG_ANSWERS as error:
        failure = f"{type(error).__name__}: {_first_line(error)}"
        return Verdict(check.name, check.section, Outcome.FAIL, failure)
    return Verdict(check.name, check.section, Outcome.PASS)


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return (lines[0] if lines else type(error).__name__)[:200]
