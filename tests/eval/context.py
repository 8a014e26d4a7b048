"""What is still there of a long conversation when a request may hold only a part of it, without any model.

    python -m tests.eval.context

Conversations and questions: the memory scenarios of `bfcl-eval`. The user's messages are said one after
the other, each through the context pipeline as an agent without a configured model has it, whose input
budget is a share of the tokens of all the user's messages. Then each question is asked.

A fact is in view where one of the right answers stands in the request, the question aside; `with one
recall` where it stands there or in what `recall` finds for the words of the question; `oldest dropped` where
it stands in the newest whole messages that fit. Answers and texts are compared without case, every run of
other characters than letters and digits being one space, and handles of stored texts left out. `(words …)`
is the same with answers as whole words only: "7" is then not in "17".

The extract was tuned on the scenarios `TUNED_ON`; the others are printed apart.
"""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from tests.eval.bfcl import DataMissingError, Question, Scenario, scenarios
from utils.context.compaction import Compaction
from utils.context.factory import policy_for
from utils.context.pipeline import Parts, Request, prepare
from utils.context.policy import ContextPolicy
from utils.context.settings import ContextSettings
from utils.context.tools import found_text, hidden
from utils.messages.counter import MessageCounter
from utils.messages.handles import handles_in
from utils.messages.text import message_text
from utils.settings import LLMSettings

SHARES = (0.50, 0.25, 0.10)
SMALLEST = 256
"""Tokens of the smallest budget: the shortest conversation has 870."""

TUNED_ON = frozenset({"customer", "finance", "notetaker"})
"""Scenarios that the constants of `utils/context/summarisers` were chosen on."""


@dataclass
class Score:
    """How many questions' facts were there: as a part of the text, and as whole words."""

    asked: int = 0
    found: dict[str, list[int]] = field(default_factory=dict)

    def mark(self, name: str, text: str, question: Question) -> None:
        """Count a text in which the question's fact should be."""
        row = self.found.setdefault(name, [0, 0])
        plain = _plain(text)
        answers = [_plain(answer).strip() for answer in question.answers]
        row[0] += any(answer in plain for answer in answers)
        row[1] += any(f" {answer} " in f" {plain} " for answer in answers)

    def __str__(self) -> str:
        shares = [
            f"{name} {100 * part / self.asked:.1f} % (words {100 * words / self.asked:.1f})"
            for name, (part, words) in self.found.items()
        ]
        return f"{', '.join(shares)}, of {self.asked} questions"


async def run_scenario(
    scenario: Scenario, share: float, counter: MessageCounter, scores: Sequence[Score]
) -> None:
    """Say everything, then ask every question."""
    whole = [HumanMessage(text, id=f"h{number}") for number, text in enumerate(scenario.said)]
    budget = max(SMALLEST, int(sum(map(counter.message, whole)) * share))
    policy = replace(_policy(), window=2 * budget, output_reserve=budget, margin=0)
    talk, compaction = list[BaseMessage](), Compaction()
    for message in whole:
        talk.append(message)
        compaction = (await prepare(Request(talk), policy, Parts(counter), compaction)).compaction
        talk.append(AIMessage("Noted.", id=f"a{message.id}"))
    kept = _newest(whole, budget, counter)
    for question in scenario.questions:
        asked = [*talk, HumanMessage(question.text, id="question")]
        prepared = await prepare(Request(asked), policy, Parts(counter), compaction)
        view = _texts(message for message in prepared.all_messages() if message.id != "question")
        found = found_text(question.text, hidden(asked, prepared.compaction))
        for score in scores:
            score.asked += 1
            score.mark("in view", view, question)
            score.mark("with one recall", f"{view}\n{found}", question)
            score.mark("oldest dropped", kept, question)
            score.mark("in the whole conversation", _texts(whole), question)


def _policy() -> ContextPolicy:
    """What an agent has where no model can write summaries."""
    return policy_for(LLMSettings(), ContextSettings())


def _newest(messages: list[HumanMessage], budget: int, counter: MessageCounter) -> str:
    kept: list[BaseMessage] = []
    for message in reversed(messages):
        budget -= counter.message(message)
        if budget < 0:
            break
        kept.append(message)
    return _texts(reversed(kept))


def _texts(messages: Iterable[BaseMessage]) -> str:
    return "\n".join(message_text(message) for message in messages)


def _plain(text: str) -> str:
    for handle in handles_in(text):
        text = text.replace(handle, "")
    return re.sub(r"[^a-z0-9]+", " ", text.lower())


async def measure() -> None:
    """Print the shares."""
    counter, all_scenarios = MessageCounter(), scenarios()
    print("facts of the memory questions of bfcl-eval, by input budget as a share of the conversation")
    for share in SHARES:
        scores = {"all": Score(), "tuned on": Score(), "held out": Score()}
        for scenario in all_scenarios:
            half = "tuned on" if scenario.name in TUNED_ON else "held out"
            await run_scenario(scenario, share, counter, (scores["all"], scores[half]))
        for name, score in scores.items():
            print(f"  {share:4.0%}, {name}: {score}")


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
