"""Which tool a clause belongs to: its nearest example or description, unless something else is nearer."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from utils.llm.offline import entities
from utils.llm.offline.changes import asked_change, changing, speaks_of_github
from utils.llm.offline.grammar import FORMS, WORDS
from utils.llm.offline.kinds import RequestKind, kinds_of
from utils.llm.offline.particulars import links_in_words, masked, without_denied
from utils.llm.offline.similarity import Similarity
from utils.llm.offline.tools import NAMES, ToolSpec
from utils.llm.offline.words import content_stems, is_foreign, spelled_out
from utils.messages.handles import handles_in

ABSTAIN = 0.36
"""Below it no tool is near enough. This and the weights below were chosen on the `tune` split of tests/eval."""
ABSTAIN_NAMED = 0.15
"""The same where the sentence names a repository and the tool takes one: that says a lot already."""
TOLD = 0.5
"""Share of a kind from which a request is taken for one of it."""
ORDERED = 0.9
"""The same of a change whose verb no list has."""
ASKED = 0.65
"""The same of a question about the product, which orders no change."""
SURELY = 0.9
"""The same of a question that is nobody's. Anything may stand in a team's own documents, so that in doubt it is looked up."""
NEAR = 0.42
"""Score from which a tool takes a request whatever its kind: the kinds know the two agents here, and no agent that a team has added."""
FAR = 0.2
"""Score below which no agent's description or example is anywhere near a question."""
DESCRIPTION = 0.9
"""Weight of a tool's description against its examples."""
COMPANY = 0.2
"""Share of a tool's three nearest examples against the nearest alone."""
NAMED = 0.12
"""What it is worth when the sentence names what the tool is named for ("commits", `list_commits`)."""
FITS = 0.15
"""What it is worth when the sentence has an argument that the tool needs, and costs when it has none."""
ASKS_WHICH = 0.55
"""Score from which an agent for repositories is asked although none is named: it asks back which one is meant."""
ASKS_KNOWN = 0.42
"""The same where the conversation has named one."""
ASKS_BESIDE = 0.3
"""The same where the message itself names one."""
LISTS = 0.6
"""Share of a sentence's words that a tool without arguments has to have among its own, since it answers nothing else."""
_OF_ANY_ROWS = frozenset(content_stems(" ".join(WORDS["column"])))
"""Words that say nothing of what is listed: "where is the list"."""
_PLACE = r"\b(?:last|latest|newest|most (?:recent(?:ly)?|\w+ed)|current)\b.{{0,30}}\b(?:{})\b"


class Route(NamedTuple):
    """The nearest tool with its score; `tool` is `None` where the model should not act."""

    tool: ToolSpec | None
    score: float


def about_the_product(text: str) -> bool:
    """Whether a question is about the service itself or how something is done, which documents answer."""
    asks = FORMS["how_to"].search(text) or FORMS["product"].search(text)
    return bool(asks) and entities.repository(links_in_words(text)) is None


def route(
    clause: str, tools: Sequence[ToolSpec], similarity: Similarity, asks_from: float = ASKS_WHICH
) -> Route:
    """The tool for a clause, or none. `asks_from`: the score from which a tool for repositories takes one that names none."""
    kinds = kinds_of(clause, similarity.embedder)
    if declared := _declared_changes(clause, tools, kinds):
        return _change(clause, declared, similarity)
    repositories = next((tool for tool in tools if tool.about_repositories), None)
    if repositories and _is_githubs(clause, kinds, asks_from):
        return _of_an_added_agent(clause, tools, similarity) or Route(repositories, 1.0)
    if repositories and FORMS["machine"].search(clause) and not _asks(clause):
        return _of_an_added_agent(clause, tools, similarity) or Route(None, 0.0)
    reading = [tool for tool in tools if not tool.changes and _may(tool, clause)]
    library = library_of(reading)
    own = FORMS["own_documents"].search(clause) or kinds.get(RequestKind.DOCUMENTS, 0.0) >= SURELY
    if library and repositories and own and entities.repository(links_in_words(clause)) is None:
        return _of_no_repositories(clause, reading, similarity, library)
    nearest = _nearest_tool(clause, reading, similarity, asks_from)
    runs = (each for each in tools if each.noun == "workflow runs" and FORMS["state_of_runs"].match(clause))
    if nearest.tool is None or _is_nobodys(clause, kinds, nearest, library, asks_from):
        return Route(next(runs, None), nearest.score)
    if nearest.score >= _enough(nearest.tool, clause, asks_from):
        return nearest
    return Route(library or next(runs, None), nearest.score)


def library_of(tools: Sequence[ToolSpec]) -> ToolSpec | None:
    """The tool that answers from documents: of those with questions as examples the one whose texts use the most words.

    An agent that a team has added may be asked with questions too, and they are about its own subject.
    """
    libraries = [tool for tool in tools if tool.is_library]
    return max(libraries, key=lambda tool: len(set(content_stems(" ".join(tool.examples)))), default=None)


def _declared_changes(
    clause: str, tools: Sequence[ToolSpec], kinds: Mapping[RequestKind, float]
) -> Sequence[tuple[ToolSpec, Sequence[str]]]:
    """The tools that may make the change that a clause orders, with their examples of it; none where it orders none."""
    declared = changing(clause, tools)
    if not declared and kinds.get(RequestKind.CHANGE, 0.0) >= ORDERED:
        return [(tool, list(tool.examples)) for tool in tools if tool.changes and tool.examples]
    return declared


def _is_githubs(clause: str, kinds: Mapping[RequestKind, float], asks_from: float) -> bool:
    """Whether a clause is for the agent of GitHub by its words or its kind, however near another tool is."""
    if FORMS["state_of_runs"].match(clause):
        return True
    if kinds.get(RequestKind.DOCUMENTS, 0.0) >= ASKED:
        return False
    return (
        (
            asked_change(clause) is not None
            and asks_from < ASKS_WHICH
            and not FORMS["documented"].search(clause)
        )
        or (kinds.get(RequestKind.CHANGE, 0.0) >= TOLD and speaks_of_github(clause))
        or (kinds.get(RequestKind.GITHUB, 0.0) >= SURELY and bool(FORMS["has"].search(clause)))
        or (
            asks_from <= ASKS_BESIDE
            and bool(FORMS["of_a_row"].search(clause))
            and not about_the_product(clause)
        )
    )


def _of_an_added_agent(clause: str, tools: Sequence[ToolSpec], similarity: Similarity) -> Route | None:
    """The tool of an agent that a team has added, if it is the nearest of all: the kinds know no such agent."""
    score, tool = max(ranked(clause, tools, similarity), key=lambda pair: pair[0])
    is_added = tool.delegates and not (tool.about_repositories or tool.changes or tool == library_of(tools))
    return Route(tool, score) if is_added and score >= NEAR else None


def _of_no_repositories(
    clause: str, tools: Sequence[ToolSpec], similarity: Similarity, library: ToolSpec
) -> Route:
    """The nearest of the agents that are not for repositories, if it is near or answers about anything; else the library."""
    others = [tool for tool in tools if not tool.about_repositories]
    score, tool = max(ranked(clause, others, similarity), key=lambda pair: pair[0])
    return Route(tool if score >= NEAR or tool.is_library else library, score)


def _nearest_tool(clause: str, tools: Sequence[ToolSpec], similarity: Similarity, asks_from: float) -> Route:
    """The tool with the highest score, of those that the clause's own words do not rule out."""
    named = _names_what_is_on_github(clause)
    library = library_of(tools)
    repositories = any(tool.about_repositories for tool in tools)
    scored = ranked(clause, tools, similarity)
    if library and repositories and named:
        scored = [(score, tool) for score, tool in scored if tool != library] or scored
    if library and not named:
        least = 1.0 + FITS if about_the_product(clause) else asks_from
        scored = [(score, tool) for score, tool in scored if score >= least or not tool.about_repositories]
    best, tool = max(scored, key=lambda pair: pair[0], default=(0.0, None))
    return Route(tool, best)


def _enough(tool: ToolSpec, clause: str, asks_from: float) -> float:
    """The score from which a tool takes a clause."""
    of_it = tool.takes_repository and _names_what_is_on_github(clause) and not is_foreign(clause)
    return ABSTAIN_NAMED if of_it else min(ABSTAIN, asks_from)


def _is_nobodys(
    clause: str,
    kinds: Mapping[RequestKind, float],
    nearest: Route,
    library: ToolSpec | None,
    asks_from: float,
) -> bool:
    """Whether no agent here can do what is asked. A question is looked up in doubt."""
    tool, score = nearest
    if tool is None or _names_what_is_on_github(clause):
        return False
    of_ours = tool.is_library or tool.about_repositories
    if score >= (NEAR if of_ours else _enough(tool, clause, asks_from)):
        return False
    sent_to_be_looked_up = library is not None and not library.delegates
    asks = sent_to_be_looked_up or _asks(clause)
    if (asks and score >= FAR) or FORMS["product"].search(clause) or FORMS["has"].search(clause):
        return False
    ordered = 0.0 if FORMS["how_to"].search(clause) else kinds.get(RequestKind.CHANGE, 0.0)
    nobodys = kinds.get(RequestKind.OUTSIDE, 0.0) + kinds.get(RequestKind.TALK, 0.0) + ordered
    return nobodys >= (SURELY if asks else TOLD)


def _asks(clause: str) -> bool:
    """Whether a clause asks to know something, and not to have something done: "could you restart it?"."""
    rest = FORMS["politely"].sub("", clause)
    return bool(FORMS["question"].search(clause if rest == clause else rest.rstrip(" ?")))


def _names_what_is_on_github(clause: str) -> bool:
    """Whether a clause names a repository or an account, or asks for GitHub by its name."""
    text = links_in_words(clause)
    if entities.repository(text) is not None:
        return True
    return not about_the_product(clause) and bool(
        FORMS["on_github"].search(text) or (FORMS["repositories"].search(text) and entities.owner(text))
    )


def _may(tool: ToolSpec, clause: str) -> bool:
    """Whether a tool that reads one document, or lists them all, is wanted by the clause's own words."""
    if not tool.parameters:
        said = set(content_stems(clause))
        own = {stem for line in (tool.description, *tool.examples) for stem in content_stems(line)}
        return len(said & own) >= LISTS * len(said) and bool(said & own - _OF_ANY_ROWS)
    if tool.text_parameter and not (tool.delegates or tool.is_library) and is_foreign(clause):
        return False  # the words to look for cannot be told from the others
    if NAMES["document"] & set(tool.needed):
        return FORMS["reads"].search(clause) is not None and not (entities.path(clause) or "").startswith(".")
    return True


def _change(clause: str, declared: Sequence[tuple[ToolSpec, Sequence[str]]], similarity: Similarity) -> Route:
    """The tool for a change: by its examples alone, since what it lacks is asked for, and never a tool that reads."""
    plain = masked(entities.without_quotes(clause))
    examples = [[masked(entities.without_quotes(text)) for text in own] for _, own in declared]
    near = iter(similarity.to_each(plain, [text for own in examples for text in own]))
    found = [
        (max(next(near) for _ in own) + _named(tool, plain), tool)
        for own, (tool, _) in zip(examples, declared, strict=True)
    ]
    score, tool = max(found, key=lambda pair: pair[0])
    return Route(tool, score)


def ranked(clause: str, tools: Sequence[ToolSpec], similarity: Similarity) -> list[tuple[float, ToolSpec]]:
    """Every tool with its score."""
    text = links_in_words(clause)
    plain, own_words = (
        masked(clause),
        spelled_out(without_denied(text.replace(entities.path(text) or "\0", " "))),
    )
    texts = [[masked(text) for text in (tool.description, *tool.examples)] for tool in tools]
    weights = telling_words(texts)
    closeness = iter(similarity.to_each(plain, [text for own in texts for text in own], weights))
    found = []
    for tool in tools:
        description = DESCRIPTION * next(closeness)
        near = sorted((next(closeness) for _ in tool.examples), reverse=True)
        score = max(description, _nearest(near)) + fit(tool, clause, tools) + _named(tool, own_words)
        found.append((score, tool))
    return found


def telling_words(texts: Sequence[Sequence[str]]) -> dict[str, float]:
    """What each word tells about the tool it speaks of: little when most tools use it."""
    uses = Counter(stem for own in texts for stem in set(content_stems(" ".join(own))))
    return {stem: math.log(1 + len(texts) / count) for stem, count in uses.items()}


def _nearest(near: Sequence[float]) -> float:
    if not near:
        return 0.0
    return (1 - COMPANY) * near[0] + COMPANY * sum(near[:3]) / len(near[:3])


def _named(tool: ToolSpec, plain: str) -> float:
    """Whether the sentence has the tool's own noun in it: in the same number all of it counts, else half."""
    if not tool.noun:
        return 0.0
    if re.search(rf"\b{re.escape(tool.noun)}\b", plain, re.IGNORECASE):
        return NAMED
    return NAMED / 2 if set(content_stems(tool.noun)) <= set(content_stems(plain)) else 0.0


def fit(tool: ToolSpec, clause: str, tools: Sequence[ToolSpec]) -> float:
    """How well the arguments in a clause suit a tool, against the other tools."""
    text, needed = links_in_words(clause), set(tool.needed)
    score = 0.0
    if any(other.shows_one for other in tools):
        has = _has_number_for(tool, text)
        may = has and any(p.is_identifier and p.names_its_subject for p in tool.parameters)
        score += _agreement(tool.shows_one or may, has, one_by_place(tool, text) and not has)
    if "handle" in needed:
        score += FITS if handles_in(text) else -FITS
    documents = NAMES["document"] | NAMES["path"]
    if any(documents.intersection(other.needed) for other in tools):
        address = tool.accepts(*NAMES["document"]) and entities.address(text) is not None
        has = address or entities.path(text) is not None
        if documents & needed or not tool.accepts("path"):
            score += _agreement(bool(documents & needed), has)
        else:
            score += FITS / 2 if has else 0.0  # a folder may be meant
    named = entities.repository(text) is not None
    if not named and tool.accepts(*NAMES["owner"]) and not tool.takes_repository:
        score += FITS if entities.owner(text) else 0.0
    if any(other.takes_repository for other in tools):
        score += _agreement(tool.takes_repository, named, not named and not tool.about_repositories)
    return score


def _agreement(needs: bool, has: bool, indifferent: bool = False) -> float:
    if needs == has:
        return FITS if needs else 0.0
    return 0.0 if indifferent else -FITS


def one_by_place(tool: ToolSpec, text: str) -> bool:
    """Whether a sentence means one thing of a list by its place: "the last run", but not "the last runs"."""
    identifiers = [name.removesuffix("_id") for name in tool.identifiers if name.endswith("_id")]
    nouns = "|".join(re.escape(noun) for noun in (tool.noun.rstrip("s"), *identifiers) if noun)
    return bool(nouns) and re.search(_PLACE.format(nouns), spelled_out(text), re.IGNORECASE) is not None


def _has_number_for(tool: ToolSpec, text: str) -> bool:
    """Whether a text has a number or hash that names what a tool shows: a short one alone, "#12", is no id of a run or a job."""
    if NAMES["hash"].intersection(tool.needed):
        return entities.commit(text) is not None
    by_id = tool.identifiers and not tool.accepts("number")
    return any(number.noun or not by_id for number in entities.numbers(text))
