"""Which tool a clause belongs to: its nearest example or description, unless something else is nearer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from utils.llm.offline import entities
from utils.llm.offline.links import links_in_words
from utils.llm.offline.outside import OUTSIDE
from utils.llm.offline.similarity import Similarity
from utils.llm.offline.tools import ToolSpec
from utils.llm.offline.words import spelled_out

ABSTAIN = 0.42
"""Below it no tool is near enough. This and the weights below were chosen on the `tune` split of tests/eval."""
ABSTAIN_OTHER = 0.12
"""The same for other words where a tool answers questions, since documents can be about anything; a question always goes there."""
OUTSIDE_FROM = 0.33
"""Closeness to a request of `OUTSIDE` from which a question is declined rather than looked up."""
DESCRIPTION = 0.9
"""Weight of a tool's description against its examples."""
FITS = 0.12
"""What it is worth when the sentence has an argument that the tool needs, and costs when it has none."""
_QUESTION = re.compile(
    r"^\s*(?:please\s+|can you\s+|could you\s+)?(how|what|what's|why|when|where|which|who|explain|describe|is|are|does|do|can|should|tell me|search|find|look)\b|\?\s*$",
    re.IGNORECASE,
)
_ADDRESSES = re.compile(r"https?://\S+")


@dataclass(frozen=True, slots=True)
class Route:
    """The nearest tool with its score; `tool` is `None` where the model should not act."""

    tool: ToolSpec | None
    score: float
    ranking: tuple[tuple[float, ToolSpec], ...] = ()


def masked(text: str) -> str:
    """A sentence without its particulars, so that only what is asked for counts."""
    text = _ADDRESSES.sub("an address", links_in_words(text))
    named = entities.repository_text(text)
    if named:
        text = text.replace(named, "owner/repository")
    file = entities.path(text)
    if file and file != "owner/repository":
        text = text.replace(file, "file.md")
    return re.sub(r"#?\b\d+\b", "12", spelled_out(text))


def route(clause: str, tools: Sequence[ToolSpec], similarity: Similarity) -> Route:
    """The tool for a clause, or none."""
    scored = sorted(ranked(clause, tools, similarity), key=lambda pair: -pair[0])
    if not scored:
        return Route(None, 0.0)
    best, tool = scored[0]
    outside = max(similarity.to_each(masked(clause), OUTSIDE))
    ranking = tuple(scored)
    if best >= ABSTAIN and best >= outside:
        return Route(tool, best, ranking)
    answering = next((spec for _, spec in scored if spec.answers_questions), None)
    declined = outside >= max(best, OUTSIDE_FROM)
    asks = bool(_QUESTION.search(clause)) or _looks_like_a_term(clause)
    if answering and not declined and (asks or best >= ABSTAIN_OTHER):
        return Route(answering, best, ranking)
    return Route(None, best, ranking)


def ranked(clause: str, tools: Sequence[ToolSpec], similarity: Similarity) -> list[tuple[float, ToolSpec]]:
    """Every tool with its score."""
    plain = masked(clause)
    texts = [masked(text) for tool in tools for text in (tool.description, *tool.examples)]
    closeness = iter(similarity.to_each(plain, texts))
    found = []
    for tool in tools:
        description = DESCRIPTION * next(closeness)
        nearest = max((next(closeness) for _ in tool.examples), default=0.0)
        found.append((max(description, nearest) + fit(tool, clause, tools), tool))
    return found


def fit(tool: ToolSpec, clause: str, tools: Sequence[ToolSpec]) -> float:
    """How well the arguments in a clause suit a tool, against the other tools."""
    text = links_in_words(clause)
    score = 0.0
    if any(_needs_identifier(other) for other in tools):
        score += _agreement(_needs_identifier(tool), bool(entities.numbers(text)))
    if any(_needs_path(other) for other in tools):
        score += _agreement(_needs_path(tool), entities.path(text) is not None, tool.accepts("path"))
    if any(_takes_repository(other) for other in tools):
        named = entities.repository(text) is not None
        score += _agreement(_takes_repository(tool), named, not named)
    return score


def _agreement(needs: bool, has: bool, indifferent: bool = False) -> float:
    if needs == has:
        return FITS if needs else 0.0
    return 0.0 if indifferent else -FITS


def _needs_identifier(tool: ToolSpec) -> bool:
    return any(p.required and p.is_identifier for p in tool.parameters)


def _needs_path(tool: ToolSpec) -> bool:
    return any(
        p.required and p.name in {"path", "file", "source", "url", "document"} for p in tool.parameters
    )


def _takes_repository(tool: ToolSpec) -> bool:
    if tool.delegates:
        return any(entities.repository(example) for example in tool.examples)
    return tool.accepts("repo", "repository", "repo_name")


def _looks_like_a_term(clause: str) -> bool:
    """A name out of code or configuration, given alone or with a word or two: "MAX_TOOL_OUTPUT_SIZE"."""
    return re.search(r"\b[A-Za-z]+_\w+\b|`[^`]+`|\b[a-z]+[A-Z]\w+\b", clause) is not None
