"""What context management costs and saves, beside two common ways to do it, in one run.

    python -m benchmarks.context

Prints: the check before a request on a conversation of 100,000 tokens, the first time and with one
new message; the truncation of a result of one megabyte; and, over 120 turns, how much of each
request is an unchanged beginning, and what the input costs where unchanged tokens cost a tenth.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from statistics import median

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from utils.context.compaction import Compaction
from utils.context.pipeline import Parts, Request, prepare
from utils.context.policy import ContextPolicy, standard
from utils.context.strategies.truncate import truncated
from utils.messages.counter import MessageCounter
from utils.messages.tokens import count_messages_tokens
from utils.messages.transcript import stand_in

CACHED_PRICE = 0.1
"""Price of a cached input token as a share of the full price (OpenAI, Anthropic: a tenth)."""

TURNS = 120
WINDOW = 32_000
SMALL_WINDOW = 8_000
SYSTEM = SystemMessage("You are a platform engineer. Answer from what the tools return. " * 20)


def turn(number: int, words: int) -> list[BaseMessage]:
    """A question, a tool call with a result of `words` words, and an answer."""
    call = {"name": "get", "args": {"service": f"service-{number}"}, "id": f"c{number}"}
    return [
        HumanMessage(f"How is service-{number} doing, and what changed since yesterday?", id=f"h{number}"),
        AIMessage("", tool_calls=[call], id=f"a{number}"),
        ToolMessage(
            f"pod {number} ok; " * (words // 3), tool_call_id=f"c{number}", name="get", id=f"t{number}"
        ),
        AIMessage(f"Service-{number} runs {number % 9 + 1} replicas; one was restarted.", id=f"f{number}"),
    ]


def conversation(tokens: int) -> list[BaseMessage]:
    """About `tokens` tokens of turns."""
    counter, talk, number = MessageCounter(), list[BaseMessage](), 0
    while counter.messages(talk) < tokens:
        talk += turn(number, 600)
        number += 1
    return talk


async def preflight() -> tuple[float, float, float]:
    """Milliseconds of processor time: first check, and check with one more message; time to count everything with tiktoken."""
    policy = ContextPolicy(window=400_000)
    talk, first, again = conversation(100_000), list[float](), list[float]()
    for number in range(7):
        parts = Parts(MessageCounter())
        first.append(await _timed(talk, policy, parts))
        for extra in range(3):
            grown = [*talk, HumanMessage(f"And now {number} {extra}?", id=f"n{number}-{extra}")]
            again.append(await _timed(grown, policy, parts))
    began = time.perf_counter()
    count_messages_tokens(talk)
    return min(first), min(again), (time.perf_counter() - began) * 1_000


async def _timed(talk: Sequence[BaseMessage], policy: ContextPolicy, parts: Parts) -> float:
    began = time.process_time()
    await prepare(Request(talk, SYSTEM), policy, parts)
    return (time.process_time() - began) * 1_000


def truncation() -> float:
    """Milliseconds to truncate a result of one megabyte."""
    text, times = "2026-11-21T10:00:00Z step finished without errors\n" * 20_000, list[float]()
    for _ in range(9):
        began = time.perf_counter()
        truncated(text, standard(128_000), MessageCounter())
        times.append((time.perf_counter() - began) * 1_000)
    return median(times)


@dataclass
class Ledger:
    """What the requests of one conversation had in common, and what they cost."""

    sent: int = 0
    unchanged: int = 0
    summaries: int = 0
    broken: int = 0
    requests: int = 0
    _before: list[tuple[str, str]] = field(default_factory=list)

    def record(self, messages: Sequence[BaseMessage], counter: MessageCounter, *, compacted: bool) -> None:
        """Compare one request with the one before it."""
        shown = [(m.type, str(m.content)) for m in messages]
        same = 0
        while same < min(len(shown), len(self._before)) and shown[same] == self._before[same]:
            same += 1
        if not compacted and same < len(self._before):
            self.broken += 1
        self.sent += counter.messages(messages)
        self.unchanged += sum(map(counter.message, messages[:same]))
        self.requests += 1
        self._before = shown

    @property
    def stable(self) -> float:
        """Share of input tokens that the request before had too, in the same place."""
        return self.unchanged / self.sent

    @property
    def cost(self) -> float:
        """Input in full-price tokens."""
        return self.sent - self.unchanged * (1 - CACHED_PRICE)


async def managed(counter: MessageCounter, window: int = WINDOW) -> Ledger:
    """The pipeline."""
    ledger, talk, compaction, parts = Ledger(), list[BaseMessage](), Compaction(), Parts(counter)
    for number in range(TURNS):
        for message in turn(number, 450):
            if not isinstance(message, AIMessage):
                request = Request([*talk, message], SYSTEM)
                prepared = await prepare(request, standard(window), parts, compaction)
                ledger.summaries += prepared.compaction.count - compaction.count
                ledger.record(prepared.all_messages(), counter, compacted=bool(prepared.report.steps))
                compaction = prepared.compaction
            talk.append(message)
    return ledger


class Writer:
    """A model that writes summaries of the usual length."""

    name = "model"
    window = 100_000

    def __init__(self) -> None:
        self.calls = 0

    async def summarise(self, text: str, *, previous: str, max_tokens: int) -> str:
        """A summary that differs from every other one."""
        self.calls += 1
        opening = f"Summary of {len(text)} characters after {len(previous)}: "
        return opening + "the user looked at services; " * (max_tokens // 7)

    async def shorten(self, text: str, *, title: str, guidance: str, max_tokens: int) -> str:
        """Nothing in the conversation is ranked, so that nobody asks for this."""
        return f"{title} {guidance} {text}"[:max_tokens]


async def summarised_ahead(counter: MessageCounter, window: int = WINDOW) -> Ledger:
    """The pipeline with a model that writes summaries after answers, as an agent with a provider has it."""
    writer, ledger, talk, compaction = Writer(), Ledger(), list[BaseMessage](), Compaction()
    policy, parts = standard(window), Parts(counter, writer, ahead=True)
    for number in range(TURNS):
        said = turn(number, 450)
        for message in said:
            if not isinstance(message, AIMessage):
                prepared = await prepare(Request([*talk, message], SYSTEM), policy, parts, compaction)
                ledger.record(prepared.all_messages(), counter, compacted=prepared.compaction != compaction)
                compaction = prepared.compaction
            talk.append(message)
        following = policy.for_next_turn(sum(map(counter.message, said)))
        request = Request([*talk, stand_in("(the next request)", "next")], SYSTEM, turn_start=True)
        compaction = (await prepare(request, following, replace(parts, ahead=False), compaction)).compaction
    ledger.summaries = writer.calls
    return ledger


def trimmed(counter: MessageCounter) -> Ledger:
    """Trim on each call: the newest turns that fit."""
    return _simple(counter, lambda talk: _newest(talk, counter, standard(WINDOW).input_budget), 0)


def summarised(counter: MessageCounter) -> Ledger:
    """Summarise at 80 % down to 50 %, nothing else; the summary is as long as ours."""
    budget, start, ledger = standard(WINDOW).input_budget, 0, Ledger()

    def view(talk: list[BaseMessage]) -> list[BaseMessage]:
        nonlocal start
        if counter.messages(talk[start:]) > 0.8 * budget:
            start = len(talk) - len(_newest(talk, counter, budget // 2 - 2_000))
            ledger.summaries += 1
        summary = [HumanMessage(f"Summary {start}: " + "what was said so far " * 450)] if start else []
        return [*summary, *talk[start:]]

    result = _simple(counter, view, 0)
    result.summaries = ledger.summaries
    return result


def _simple(
    counter: MessageCounter, view: Callable[[list[BaseMessage]], list[BaseMessage]], summaries: int
) -> Ledger:
    ledger, talk = Ledger(summaries=summaries), list[BaseMessage]()
    for number in range(TURNS):
        for message in turn(number, 450):
            if not isinstance(message, AIMessage):
                ledger.record([SYSTEM, *view([*talk, message])], counter, compacted=False)
            talk.append(message)
    return ledger


def _newest(talk: Sequence[BaseMessage], counter: MessageCounter, budget: int) -> list[BaseMessage]:
    start, cost = len(talk), counter.message(SYSTEM)
    while start and (cost := cost + counter.message(talk[start - 1])) <= budget:
        start -= 1
    while start < len(talk) and not isinstance(talk[start], HumanMessage):
        start += 1
    return list(talk[start:])


async def measure() -> None:
    """Print all figures."""
    first, again, anew = await preflight()
    print(
        f"context preflight, 100,000 tokens: first {first:.1f} ms, one new message {again:.2f} ms of processor time"
    )
    print(f"context recount with tiktoken, 100,000 tokens: {anew:.1f} ms")
    print(f"context truncation of 1 MB: {truncation():.2f} ms")
    counter = MessageCounter()
    rows = {
        "ours": await managed(counter),
        "trim on each call": trimmed(counter),
        "summarise 80→50": summarised(counter),
    }
    for name, row in rows.items():
        print(
            f"context over {TURNS} turns, {name}: {100 * row.stable:.1f} % unchanged beginning, input cost "
            f"{row.cost:,.0f} tokens, {row.summaries} summaries, {row.broken} requests changed without a compaction"
        )

    for window in (SMALL_WINDOW, WINDOW):
        for name, replay in (("no model", managed), ("a model", summarised_ahead)):
            row = await replay(counter, window)
            print(
                f"context prompt cache, window of {window:,}, summaries by {name}: {100 * row.stable:.1f} % of the input"
                f" is a cached prefix, input cost {row.cost:,.0f} tokens, {row.summaries} summaries"
            )


def run() -> None:
    """Print all figures."""
    asyncio.run(measure())


if __name__ == "__main__":
    run()
