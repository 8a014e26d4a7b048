"""Whether an agent can still do its work when a request holds a tenth of the conversation, without any model.

    python -m tests.eval.replay

The multi-turn tasks of `bfcl-eval` are joined to conversations of at least a hundred turns, whose right calls
are replayed, each after a model request that went through the context pipeline with the standard policy, and
with that of an agent on the embedded model (`long extracts`).

A call of the solution may have arguments that only earlier turns of its task name (an order's number, a
token, a file). Such a value must stand in the request as sent, as whole words, or in what one `recall` finds
for the user's request with the names of tool and argument. Where it does not, the call is made with `None`
in its place, as by a model that cannot know. A task is right where its simulators end in the state that the
solution ends in. `oldest dropped` is the same with the newest messages that fit and no `recall`.

`one after the other`: a user does one task after the other, so that what a call needs was said a few turns
before. `woven`: the first requests of all tasks, then their second ones, and so on, so that it was said some 27
turns before, among tasks of the same kind: harder than any real conversation, and often not to be told even
by a reader of the whole ("cancel my last order").
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from tests.eval.bfcl import DataMissingError
from tests.eval.tasks import Call, Task, World, tasks
from utils.context.compaction import Compaction
from utils.context.factory import EXTRACT_TO
from utils.context.pipeline import Parts, Request, prepare
from utils.context.policy import ContextPolicy, standard
from utils.context.rendering import render_all
from utils.context.tools import found_text, hidden
from utils.messages.counter import MessageCounter
from utils.messages.text import message_text

TURNS = 100
"""Turns of a conversation at least."""

SHARE = 0.10
"""Input budget as a share of the whole conversation's tokens."""

Order = Callable[[Sequence[Task]], Iterator[tuple[Task, int]]]
View = Callable[[list[BaseMessage]], Awaitable[list[BaseMessage]]]
Look = Callable[[str], str]


@dataclass
class Result:
    """What a way of managing a conversation did."""

    sent: int = 0
    needed: int = 0
    seen: int = 0
    recalled: int = 0
    right: int = 0
    tasks: int = 0
    peak: int = 0

    @property
    def states(self) -> str:
        """Tasks that ended right, in words."""
        return f"{self.right} of {self.tasks} tasks end in the right state ({100 * self.right / self.tasks:.1f} %)"


@dataclass
class Manager:
    """The pipeline over one conversation."""

    counter: MessageCounter
    policy: ContextPolicy
    compaction: Compaction = field(default_factory=Compaction)
    talk: list[BaseMessage] = field(default_factory=list)

    async def view(self, talk: list[BaseMessage]) -> list[BaseMessage]:
        """The next request's messages."""
        prepared = await prepare(Request(talk), self.policy, Parts(self.counter), self.compaction)
        self.compaction, self.talk = prepared.compaction, talk
        return prepared.all_messages()

    def recall(self, query: str) -> str:
        """What the tool `recall` answers."""
        return found_text(query, hidden(self.talk, self.compaction))


async def replay(
    turns: Sequence[tuple[Task, int]], view: View, look: Look, counter: MessageCounter
) -> tuple[Result, int]:
    """Replay a conversation; with the tokens that it has in the end."""
    group = list({task.name: task for task, _ in turns}.values())
    result, talk = Result(tasks=len(group)), list[BaseMessage]()
    worlds, own = {t.name: World(t) for t in group}, {t.name: list[BaseMessage]() for t in group}
    for task, turn in turns:
        said = HumanMessage(task.requests[turn], id=f"{task.name}-{turn}")
        talk.append(said)
        past, now = render_all(own[task.name]), list[BaseMessage]([said])
        for number, call in enumerate(task.calls[turn]):
            shown = await _sent(talk, view, counter, result)
            made = _known(call, (past, render_all(now)), shown, _asking(look, str(said.content)), result)
            now += _messages(f"{said.id}-{number}", made, worlds[task.name].run(made))
            talk += now[-2:]
        await _sent(talk, view, counter, result)
        talk.append(AIMessage("Done.", id=f"{said.id}-done"))
        own[task.name] += now
    result.right = sum(worlds[task.name].same(_solved(task)) for task in group)
    return result, sum(map(counter.message, talk))


def in_turn(group: Sequence[Task]) -> Iterator[tuple[Task, int]]:
    """The requests of one task after the other."""
    for task in group:
        for turn in range(len(task.requests)):
            yield task, turn


def _woven(group: Sequence[Task]) -> Iterator[tuple[Task, int]]:
    for turn in range(max(len(task.requests) for task in group)):
        for task in group:
            if turn < len(task.requests):
                yield task, turn


async def _sent(talk: list[BaseMessage], view: View, counter: MessageCounter, result: Result) -> str:
    shown = await view(talk)
    tokens = counter.messages(shown)
    result.sent += tokens
    result.peak = max(result.peak, tokens)
    calls = [call for m in shown if isinstance(m, AIMessage) for call in m.tool_calls]
    return "\n".join([*map(message_text, shown), *(json.dumps(call["args"]) for call in calls)])


def _asking(look: Look, request: str) -> Look:
    return lambda names: look(f"{request} {names}")


def _known(call: Call, own: tuple[str, str], shown: str, look: Look, result: Result) -> Call:
    """The call as a model can make it: with `None` for each value that it cannot know any more."""

    def value(name: str, what: Any) -> Any:
        if isinstance(what, list):
            return [value(name, one) for one in what]
        if (
            isinstance(what, bool)
            or what is None
            or not _plain(str(what))
            or _has(own[1], what)
            or not _has(own[0], what)
        ):
            return what
        result.needed += 1
        if _has(shown, what):
            result.seen += 1
        elif _has(look(f"{call.name} {name}"), what):
            result.recalled += 1
        else:
            return None
        return what

    args = tuple(value("", what) for what in call.args)
    return replace(call, args=args, kwargs={name: value(name, what) for name, what in call.kwargs.items()})


def _has(text: str, value: Any) -> bool:
    forms = {str(value), f"{value:g}"} if isinstance(value, float) else {str(value)}
    plain = f" {_plain(text)} "
    return any(f" {_plain(form)} " in plain for form in forms)


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9.]+", " ", re.sub(r"\.(?!\w)", " ", text.lower())).strip()


def _messages(key: str, call: Call, answer: str) -> list[BaseMessage]:
    args = {**{f"argument_{place}": value for place, value in enumerate(call.args)}, **call.kwargs}
    made = [{"name": call.name, "args": args, "id": f"call-{key}"}]
    result = ToolMessage(answer, tool_call_id=f"call-{key}", name=call.name, id=f"result-{key}")
    return [AIMessage("", tool_calls=made, id=f"ai-{key}"), result]


def _solved(task: Task) -> World:
    world = World(task)
    for calls in task.calls:
        for call in calls:
            world.run(call)
    return world


def conversations(all_tasks: Sequence[Task]) -> list[list[Task]]:
    """The tasks in groups of at least `TURNS` turns."""
    groups: list[list[Task]] = [[]]
    for task in all_tasks:
        if sum(len(one.requests) for one in groups[-1]) >= TURNS:
            groups.append([])
        groups[-1].append(task)
    if len(groups) > 1 and sum(len(one.requests) for one in groups[-1]) < TURNS:
        last = groups.pop()
        groups[-1] += last
    return groups


async def compare(turns: Sequence[tuple[Task, int]], counter: MessageCounter) -> dict[str, Result]:
    """One conversation unmanaged, managed in both ways, and with its oldest turns dropped."""

    async def everything(talk: list[BaseMessage]) -> list[BaseMessage]:
        return talk

    unmanaged, tokens = await replay(turns, everything, _nothing, counter)
    budget = int(tokens * SHARE)
    policy = replace(standard(2 * budget), output_reserve=budget, margin=0)

    async def managed(policy: ContextPolicy) -> Result:
        manager = Manager(counter, policy)
        result, _ = await replay(turns, manager.view, manager.recall, counter)
        assert result.peak <= budget, f"{result.peak} tokens sent, {budget} allowed"
        return result

    async def newest(talk: list[BaseMessage]) -> list[BaseMessage]:
        return _newest(talk, budget, counter)

    dropped, _ = await replay(turns, newest, _nothing, counter)
    return {
        "unmanaged": unmanaged,
        "managed": await managed(policy),
        "managed, long extracts": await managed(replace(policy, extract_to=EXTRACT_TO)),
        "oldest dropped": dropped,
    }


def _nothing(_: str) -> str:
    return ""


def _newest(talk: Sequence[BaseMessage], budget: int, counter: MessageCounter) -> list[BaseMessage]:
    start, cost = len(talk), 0
    while start and (cost := cost + counter.message(talk[start - 1])) <= budget:
        start -= 1
    return list(talk[start:])


async def measure(name: str, order: Order, groups: Sequence[Sequence[Task]], counter: MessageCounter) -> None:
    """Print the figures of one order of the turns."""
    total = dict[str, Result]()
    for group in groups:
        for way, part in (await compare(list(order(group)), counter)).items():
            row = total.setdefault(way, Result())
            for key in ("sent", "needed", "seen", "recalled", "right", "tasks"):
                setattr(row, key, getattr(row, key) + getattr(part, key))
    print(f"{name}:")
    for way, row in total.items():
        saved = 100 * (1 - row.sent / total["unmanaged"].sent)
        print(
            f"  {way}: {row.sent:,} input tokens ({saved:.1f} % fewer), {row.states}; of {row.needed} arguments from "
            f"earlier turns {row.seen} in view, {row.recalled} recalled, {row.needed - row.seen - row.recalled} lost"
        )


async def measure_all() -> None:
    """Print all figures."""
    counter, groups = MessageCounter(), conversations(tasks())
    turns = sum(len(task.requests) for group in groups for task in group)
    print(
        f"multi-turn tasks of bfcl-eval: {turns} turns in {len(groups)} conversations, budget {SHARE:.0%} of each"
    )
    await measure("one after the other", in_turn, groups, counter)
    await measure("woven", _woven, groups, counter)


def main() -> int:
    """Run and print; 1 where the data cannot be had."""
    try:
        asyncio.run(measure_all())
    except DataMissingError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
