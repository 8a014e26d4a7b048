"""One conversation of the run: a secret is told, things go wrong, and the secret is asked for."""

from __future__ import annotations

import time
from collections.abc import Sequence

from benchmarks.chaos.client import COMPLETED, WAITING, Conversation, Seen
from benchmarks.chaos.killer import Killer
from benchmarks.chaos.orders import STRANGER, SUPERVISOR, WORKER, Step
from benchmarks.chaos.tally import Tally

_ANSWER = "the blue one"


async def converse(
    talk: Conversation, number: int, steps: Sequence[Step], tally: Tally, killer: Killer
) -> None:
    """One conversation from its beginning to the question whether anything is left of it."""
    await _ask_for_secret(talk, number, tally, f"Remember secret-{number}.")
    for step in steps:
        began = time.monotonic()
        seen = await _take(talk, step, tally)
        if not (step.order.place == WORKER and killer.disturbed(began, time.monotonic())):
            check_step(step, seen, tally)
    await _ask_for_secret(talk, number, tally, "What is the secret?")


async def reaches_worker(talk: Conversation) -> bool:
    """Whether the supervisor gets something from its worker now."""
    seen = await talk.send(f"Please run order-0 plain {WORKER}")
    return (seen.state, seen.text) == (COMPLETED, "The tool said The tool said done")


async def reaches_everyone(talk: Conversation) -> bool:
    """Whether the supervisor gets something from each of its agents now."""
    reached = await reaches_worker(talk)
    seen = await talk.send(f"Please run order-0 plain {STRANGER}")
    return reached and (seen.state, seen.text) == (COMPLETED, "The tool said held on")


async def _ask_for_secret(talk: Conversation, number: int, tally: Tally, text: str) -> None:
    seen = await talk.send(text)
    if (seen.state, seen.text.strip()) != (COMPLETED, f"The secret is secret-{number}"):
        tally.fault("lost", f"conversation {number}: {seen}")


async def _take(talk: Conversation, step: Step, tally: Tally) -> Seen:
    if step.action == "leave":
        seen = await talk.leave(step.text, step.after)
        tally.happened["left"] += seen.left
    elif step.action == "cancel":
        seen = await talk.cancel(step.text, step.after)
        tally.happened["canceled"] += seen.canceled
    else:
        seen = await talk.send(step.text)
        tally.happened["asked"] += seen.state in WAITING
        if seen.state in WAITING and step.action == "answer":
            seen = await talk.send(_ANSWER, task_id=seen.task_id)
    return seen


def check_step(step: Step, seen: Seen, tally: Tally) -> None:
    """Whether a turn that nobody stopped ended as it must, and said what it must."""
    if seen.left or seen.canceled:
        return
    said = seen.text.startswith(_opening(step)) if seen.state == COMPLETED else True
    if seen.state != step.ends or not said:
        tally.fault("unrecovered", f"{step.name}, {step.action}: {seen}")


def _opening(step: Step) -> str:
    return f"Done: {step.order.kind}." if step.order.place == SUPERVISOR else "The tool said "
