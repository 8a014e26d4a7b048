"""Suggests likely next requests that the agents of this turn can answer. Pure.

Candidates are the examples on the cards of the agents that took part. A name of the form a/b in an example is replaced
by the one from the conversation. Numbers, files and the like are not invented: an example with one that does not occur
in the conversation is left out.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from utils.context.summarisers.words import joins, stem
from utils.events import SuggestionsReady

if TYPE_CHECKING:
    from utils.a2a_common.client.agents.registry import SubAgent
    from utils.events import PlanStep

MOST = 3
"""Suggested requests at most."""

_TOO_ALIKE = 0.7
_NEAR = 1 / 2
_LEAST_SHARED = 2
"""A candidate is on the subject if it shares half of its content words and at least two, or all if it has only one."""
_NAME = re.compile(r"(?<![\w/.#-])[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w-]*(?![\w/])")
_PARTICULAR = re.compile(r"(?<![^\s?!,;:])[^\s?!,;:]*[\d#./_`\"][^\s?!,;]*")
_FRAME = """
    what which when where does show list give tell find with from that this have there many much long about into does docs document
    documents documentation described written down guide search explain another anything know made they them these those also open
    want need please could would should must will latest last newest recent most
"""
_FRAMING = frozenset(map(stem, _FRAME.split()))
"""Words of the form of a request rather than of its subject."""
_SENTENCE_END = re.compile(r"(?<![.?!])[.?!]++\s*$")


def likely_next(
    requests: Sequence[str], examples: Mapping[str, Sequence[str]], most: int = MOST
) -> list[str]:
    """The most likely requests, best first.

    Args:
        requests: The user's request and the requests to the agents, newest last.
        examples: Requests that each agent of the turn answers, by its name, as its card has them.
        most: How many at most.
    """
    names = [name for text in requests for name in _NAME.findall(_without_end(text))]
    topic = names[-1] if names else ""
    about = [text for each in examples.values() for example in each if (text := _about(example, topic))]
    conversation = " ".join(requests).lower()
    candidates = [text for text in dict.fromkeys(about) if _uses_known_particulars(text, conversation)]
    words = {text: _words(text) for text in candidates}
    spread = Counter(word for each in words.values() for word in each)
    wanted = set().union(*map(_words, requests)) if requests else set()
    scores = {
        text: sum(math.log(1 + len(words) / spread[word]) for word in each & wanted)
        for text, each in words.items()
        if _is_near(each, wanted) and not any(_alike(each, _words(text)) for text in requests)
    }
    return _unlike([text for text in sorted(scores, key=lambda text: -scores[text]) if scores[text]], most)


def suggestions_after(
    text: str, done: Sequence[PlanStep], known: Iterable[SubAgent]
) -> SuggestionsReady | None:
    """The suggestions after an answer, if there are any.

    Args:
        text: The user's request.
        done: The steps that were done for it.
        known: The known agents; the examples of those that did a step are used.
    """
    asked = {step.agent for step in done}
    examples = {agent.name: agent.offered_examples for agent in known if agent.name in asked}
    suggested = likely_next([text, *(step.title for step in done)], examples)
    return SuggestionsReady(suggested) if suggested else None


def _is_near(candidate: set[str], wanted: set[str]) -> bool:
    shared = len(candidate & wanted)
    return shared >= max(_NEAR * len(candidate), min(_LEAST_SHARED, len(candidate)))


def _about(example: str, topic: str) -> str:
    """The example with the topic in it; empty if only one of the two has a topic."""
    found = _NAME.search(_without_end(example))
    if found is None or not topic:
        return "" if found or topic else example
    return _NAME.sub(topic, example)


def _uses_known_particulars(text: str, conversation: str) -> bool:
    particulars = [each.rstrip(".").lower() for each in _PARTICULAR.findall(_without_end(text))]
    return all(each in conversation for each in particulars if each)


def _unlike(texts: Sequence[str], most: int) -> list[str]:
    """The first of them, no two of which ask nearly the same."""
    kept: list[str] = []
    for text in texts:
        if len(kept) < most and not any(_alike(_words(text), _words(each)) for each in kept):
            kept.append(text)
    return kept


def _alike(one: set[str], other: set[str]) -> bool:
    return len(one & other) > _TOO_ALIKE * len(one | other)


def _without_end(text: str) -> str:
    return _SENTENCE_END.sub("", text)


def _words(text: str) -> set[str]:
    """The stems of a request's subject, without the name of its topic, which all candidates share."""
    found = map(stem, re.findall(r"[^\W_]{3,}|\d+", _NAME.sub(" ", text.lower())))
    return {word for word in found if word not in _FRAMING and not joins(word)}
