"""How well a change of topic is told from a follow-up, on the questions and answers of the blind sets.

`python -m tests.eval.topics` prints the share of changes that are seen, and of follow-ups that are taken for one.
"""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from utils.context.topic import COMPARED, Embed, changed_topic
from utils.embeddings import create_embedder
from utils.settings import EmbeddingSettings

SETS = Path(__file__).parent / "sets"
SEED = 1
PAIRS = 60
SAMPLES = 4
GITHUB = "github"
_PAGE = re.compile(r"docs/[\w-]+\.md")


@dataclass(frozen=True, slots=True)
class Said:
    """A question and its answer, with what it is about: a page of the documents, GitHub, or nothing that is known."""

    question: str
    answer: str
    about: str

    @property
    def messages(self) -> list[BaseMessage]:
        """The turn."""
        return [HumanMessage(self.question), AIMessage(self.answer)]


def conversations() -> Iterator[list[Said]]:
    """What was said in the first runs of the sets."""
    for file in sorted(SETS.glob("set*.first.yaml")):
        for entry in yaml.load(file.read_text("utf-8"), yaml.CSafeLoader):
            yield [_said(entry["kind"], each["said"], each.get("answer") or "") for each in entry["replies"]]


def _said(kind: str, question: str, answer: str) -> Said:
    page = _PAGE.search(answer)
    return Said(question, answer, GITHUB if kind == "github" else page[0] if page else "")


async def seen(turns: list[Said], embed: Embed) -> bool:
    """Whether the last turn is taken for another topic."""
    messages = [message for turn in turns for message in turn.messages]
    return await changed_topic(messages, embed) is not None


def changes(topics: dict[str, list[Said]], chosen: random.Random) -> list[list[Said]]:
    """Questions after up to four others: of the documents after GitHub, of GitHub after a page, of another page."""
    pages = [topic for topic, each in topics.items() if topic != GITHUB and len(each) >= COMPARED]
    found = []
    for _ in range(PAIRS):
        page = chosen.choice(pages)
        before = chosen.sample(topics[page], COMPARED)
        other = chosen.choice([topic for topic in topics if topic not in (page, GITHUB)])
        found.append([*before, chosen.choice(topics[GITHUB])])
        found.append([*chosen.sample(topics[GITHUB], COMPARED), chosen.choice(topics[page])])
        found.append([*before, chosen.choice(topics[other])])
    return found


def follow_ups(topics: dict[str, list[Said]], chosen: random.Random) -> list[list[Said]]:
    """Questions after four others about the same page, and the later turns of the sets' own conversations."""
    pages = [each for topic, each in topics.items() if topic != GITHUB and len(each) > COMPARED]
    same = [chosen.sample(page, COMPARED + 1) for page in pages for _ in range(SAMPLES)]
    return same + [talk for talk in conversations() if len(talk) > 1]


async def measured() -> tuple[float, float]:
    """The share of changes that are seen, and of follow-ups that are taken for one."""
    embedder = create_embedder(EmbeddingSettings.load({}), cache=None)
    assert embedder is not None
    topics: dict[str, list[Said]] = {}
    for talk in conversations():
        if talk[0].about:
            topics.setdefault(talk[0].about, []).append(talk[0])
    shares = []
    for talks in (changes(topics, random.Random(SEED)), follow_ups(topics, random.Random(SEED))):
        found = [await seen(talk, embedder.embed) for talk in talks]
        shares.append(sum(found) / len(found))
    return shares[0], shares[1]


def main() -> None:
    """Print both."""
    seen_changes, mistaken = asyncio.run(measured())
    print(f"changes_seen={seen_changes:.2f} follow_ups_mistaken={mistaken:.2f}")


if __name__ == "__main__":
    main()
