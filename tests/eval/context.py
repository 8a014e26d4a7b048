"""What is still there of a long conversation when a request may hold only a part of it, without any model.

    python -m tests.eval.context

Conversations and questions: the memory scenarios of `bfcl-eval`. The user's messages are said one after
the other, each through the context pipeline, whose input budget is a share of the whole conversation;
no model writes summaries. Then each question is asked. A fact is in view where one of the right
answers stands in the request, as whole words and by the package's own rule for equal answers. `with one recall`: or in what `recall` finds
when it is given the question. `oldest dropped` keeps the newest messages that fit.
"""

from __future__ import annotations

import asyncio
import re
import sys
from dataclasses import dataclass

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from tests.eval.bfcl import DataMissingError, Question, Scenario, scenarios
from utils.context.compaction import Compaction
from utils.context.pipeline import Parts, Prepared, Request, prepare
from utils.context.policy import ContextPolicy
from utils.context.tools import found_text, hidden
from utils.messages.counter import MessageCounter
from utils.messages.text import message_text

SHARES = (0.50, 0.25, 0.10)
SMALLEST = 256
"""Tokens of the smallest budget: the shortest conversation has 870."""


@dataclass
class Score:
    """How many questions' facts were there."""

    asked: int = 0
    in_view: int = 0
    recalled: int = 0
    newest: int = 0

    def __str__(self) -> str:
        shares = [
            f"{name} {100 * number / self.asked:.1f} %"
            for name, number in (
                ("in view", self.in_view),
                ("with one recall", self.recalled),
                ("oldest dropped", self.newest),
            )
        ]
        return ", ".join(shares)


async def run_scenario(scenario: Scenario, share: float, counter: MessageCounter, score: Score) -> None:
    """Say everything, then ask every question."""
    whole = [HumanMessage(text, id=f"h{number}") for number, text in enumerate(scenario.said)]
    budget = max(SMALLEST, int(counter.messages(whole) * share))
    policy = ContextPolicy(window=2 * budget, output_reserve=budget, margin=0)
    talk, compaction = list[BaseMessage](), Compaction()
    for message in whole:
        talk.append(message)
        compaction = (await prepare(Request(talk), policy, Parts(counter), compaction)).compaction
        talk.append(AIMessage("Noted.", id=f"a{message.id}"))
    kept = _newest(whole, budget, counter)
    for question in scenario.questions:
        asked = [*talk, HumanMessage(question.text, id="question")]
        prepared = await prepare(Request(asked), policy, Parts(counter), compaction)
        _mark(question, asked, prepared, score)
        score.newest += _holds(kept, question)


def _mark(question: Question, asked: list[BaseMessage], prepared: Prepared, score: Score) -> None:
    view = "\n".join(message_text(message) for message in prepared.whole() if message.id != "question")
    seen = _holds(view, question)
    found = found_text(question.text, hidden(asked, prepared.compaction))
    score.asked += 1
    score.in_view += seen
    score.recalled += seen or _holds(found, question)


def _newest(messages: list[HumanMessage], budget: int, counter: MessageCounter) -> str:
    kept: list[str] = []
    for message in reversed(messages):
        budget -= counter.message(message)
        if budget < 0:
            break
        kept.append(message_text(message))
    return "\n".join(reversed(kept))


def _holds(text: str, question: Question) -> bool:
    plain = _plain(text)
    return any(re.search(rf"(?<!\w){re.escape(_plain(answer))}(?!\w)", plain) for answer in question.answers)


def _plain(text: str) -> str:
    """The text as `bfcl-eval` compares answers: without case and some punctuation."""
    return re.sub(r"[,./\-_*^()]", "", text).lower()


async def measure() -> None:
    """Print the shares."""
    counter, all_scenarios = MessageCounter(), scenarios()
    print("facts of the memory questions of bfcl-eval, by input budget as a share of the conversation")
    for share in SHARES:
        score = Score()
        for scenario in all_scenarios:
            await run_scenario(scenario, share, counter, score)
        print(f"  {share:4.0%}: {score} (of {score.asked} questions)")


def main() -> int:
    """Run and print; 1 where the data cannot be had."""
    try:
        asyncio.run(measure())
    except DataMissingError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
