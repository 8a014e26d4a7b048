"""Passages of documents as an extract that answers a question, with its sources."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from utils.llm.offline.answer.blocks import Block, Kind, blocks, heading_text, sentences
from utils.llm.offline.similarity import Similarity
from utils.llm.offline.words import content_stems, overlap
from utils.messages.results import Article, Articles

READ = 6
"""Passages that are read: what ranks lower seldom answers."""
HOW_TO = 1800
"""Characters of an extract that shows how something is done; a section of usual length fits whole."""
FACT = 900
"""Characters of an extract that answers a question of fact."""
CLOSE = 0.9
"""Share of the best passage's closeness from which another passage is quoted too."""
SAYS = 0.8
"""The same for its closest block: a title alone is no answer."""
BLOCK_CLOSE = 0.72
"""The same for blocks of a passage."""
RELEVANT = 0.25
"""Closeness under which a passage does not answer; the reader is told so."""
LONG_PARAGRAPH = 500
LOOKED_AT = 350
"""Characters of a block that are compared: its beginning tells what it is about, and comparing takes time."""
BLOCK = 0.6
"""Weight of a passage's closest block against its title and headings."""
WITH_TEXT = 0.95
TABLE_UNASKED = 0.7
RANK = 0.15
"""What the search engine's order adds, from its first passage (all of it) to its last."""
_HOW = re.compile(
    r"\bhow\b|\bsteps?\b|\bguide\b|\bset ?up\b|\binstall|\bshow me\b|\bexamples?\b|\bexplain\b|\bdescribe\b",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_TABLE = re.compile(
    r"\b(settings?|variables?|options?|defaults?|values?|which|list|table|flags?|fields?|codes?)\b",
    re.IGNORECASE,
)
_CRUMB = re.compile(r"\s*(?:\n|>|\u203a|\u00bb)\s*")

SEPARATOR = " \u203a "
"""Between the title and the headings of a place: a single angle."""
NOTHING = "I found nothing about that in the documents."


@dataclass(frozen=True, slots=True)
class Scored:
    """A passage with its blocks and how close they come to the question."""

    article: Article
    rank: int
    parts: tuple[Block, ...]
    closeness: tuple[float, ...]
    score: float


def passages_text(question: str, found: Articles, similarity: Similarity) -> str:
    """An extract in reading order and its sources; a plain sentence where nothing was found."""
    scored = sorted(_scored(question, found.articles[:READ], similarity), key=lambda passage: -passage.score)
    if not scored:
        return _joined(NOTHING, found.note or "")
    best = scored[0]
    if best.score < RELEVANT and not _shares_words(question, best.article):
        nearest = f"{NOTHING} The nearest passages are:"
        return _joined(nearest, "\n".join(_source(passage.article) for passage in scored[:3]))
    room = HOW_TO if _HOW.search(question) else FACT
    chosen = _chosen(scored)
    extracts: list[str] = []
    for passage in chosen:
        extract = _extract(question, passage, room, similarity)
        if extract and extract not in "\n\n".join(extracts):
            extracts.append(_titled(extract, passage, best, len(chosen)))
            room -= len(extract)
        if room < LONG_PARAGRAPH // 2:
            break
    quoted = chosen[: len(extracts)]
    return _joined(*extracts, _sources([passage.article for passage in quoted]))


def _scored(question: str, articles: Sequence[Article], similarity: Similarity) -> list[Scored]:
    split = [tuple(_body(article)) for article in articles]
    places = [_place(article) for article in articles]
    texts = [part.text[:LOOKED_AT] for parts in split for part in parts]
    closeness = similarity.to_each(question, [*places, *texts])
    of_blocks = iter(closeness[len(places) :])
    found = []
    for rank, (article, parts) in enumerate(zip(articles, split, strict=True)):
        near = _by_kind(question, parts, [next(of_blocks) for _ in parts])
        bonus = RANK * (len(articles) - rank) / len(articles)
        if parts:
            score = BLOCK * max(near) + (1 - BLOCK) * closeness[rank] + bonus
            found.append(Scored(article, rank, parts, near, score))
    return found


def _by_kind(question: str, parts: Sequence[Block], near: Sequence[float]) -> tuple[float, ...]:
    """Closeness with what kind of block it is: code counts as the text before it, a table only where one is wanted."""
    counted: list[float] = []
    for index, part in enumerate(parts):
        value = near[index]
        if part.kind is Kind.CODE and index:
            value = max(value, WITH_TEXT * counted[index - 1])
        if part.kind is Kind.TABLE and not _TABLE.search(question):
            value *= TABLE_UNASKED
        counted.append(value)
    return tuple(counted)


def _body(article: Article) -> list[Block]:
    """The blocks of a passage without the headings that its place already names."""
    place = _place(article).lower()
    parts = blocks(_COMMENT.sub("", article.content))
    while parts and parts[0].kind is Kind.HEADING and heading_text(parts[0]).lower() in place:
        parts = parts[1:]
    while parts and (parts[-1].kind is Kind.HEADING or _introduces(parts[-1])):
        parts = parts[:-1]
    return [_softened(part) for part in parts]


def _introduces(part: Block) -> bool:
    """Whether a block only announces what is not there any more."""
    return part.kind is Kind.PARAGRAPH and part.text.endswith(":")


def _softened(part: Block) -> Block:
    return Block(part.kind, f"**{heading_text(part)}**") if part.kind is Kind.HEADING else part


def _chosen(scored: Sequence[Scored]) -> list[Scored]:
    """The best passage and those nearly as close; parts of one document in its order."""
    best = scored[0]
    near = [best, *(passage for passage in scored[1:3] if _adds(passage, best))]
    same = [
        passage for passage in near if passage.article.url.split("#")[0] == best.article.url.split("#")[0]
    ]
    if all("position" in passage.article.metadata for passage in same):
        same.sort(key=lambda passage: int(passage.article.metadata["position"]))
    return [*same, *(passage for passage in near if passage not in same)]


def _adds(passage: Scored, best: Scored) -> bool:
    """Whether a passage is nearly as close as the best one, as a whole and in what it says."""
    return passage.score >= CLOSE * best.score and max(passage.closeness) >= SAYS * max(best.closeness)


def _extract(question: str, passage: Scored, room: int, similarity: Similarity) -> str:
    """The passage whole where it fits, else its closest blocks with what belongs to them."""
    whole = "\n\n".join(part.text for part in passage.parts)
    if len(whole) <= room and (_HOW.search(question) or len(whole) <= FACT // 2):
        return whole
    best = max(passage.closeness)
    order = sorted(range(len(passage.parts)), key=lambda index: -passage.closeness[index])
    kept: set[int] = set()
    for index in order:
        wanted = _with_companions(passage.parts, index)
        size = sum(len(passage.parts[i].text) for i in kept | wanted)
        if kept and (passage.closeness[index] < BLOCK_CLOSE * best or size > room):
            continue
        kept |= wanted
    return "\n\n".join(_trimmed(question, passage.parts[index], room, similarity) for index in sorted(kept))


def _with_companions(parts: Sequence[Block], index: int) -> set[int]:
    """A block with what it cannot do without: the line that introduces it, what it introduces, its heading."""
    together = {index}
    if parts[index].text.rstrip().endswith(":") and index + 1 < len(parts):
        together.add(index + 1)
    if index and (parts[index - 1].text.rstrip().endswith(":") or parts[index].kind is Kind.CODE):
        together.add(index - 1)
    if parts[index].text.startswith("**") and parts[index].text.endswith("**") and index + 1 < len(parts):
        together.add(index + 1)
    return together


def _trimmed(question: str, part: Block, room: int, similarity: Similarity) -> str:
    if part.kind is Kind.PARAGRAPH and len(part.text) > LONG_PARAGRAPH:
        return _closest_sentences(question, part.text, similarity)
    if part.kind in {Kind.LIST, Kind.TABLE, Kind.CODE} and len(part.text) > max(room, LONG_PARAGRAPH):
        return _first_lines(part, max(room, LONG_PARAGRAPH))
    return part.text


def _closest_sentences(question: str, paragraph: str, similarity: Similarity) -> str:
    listed = sentences(paragraph)
    near = similarity.to_each(question, listed)
    order = sorted(range(len(listed)), key=lambda index: -near[index])
    kept = sorted(order[:3])
    joined = [listed[kept[0]]]
    for before, index in pairwise(kept):
        joined.append(f"{'' if index == before + 1 else '… '}{listed[index]}")
    return " ".join(joined)


def _first_lines(part: Block, room: int) -> str:
    lines, size = [], 0
    for line in part.text.split("\n"):
        size += len(line) + 1
        if size > room:
            break
        lines.append(line)
    closing = part.text.split("\n")[-1] if part.kind is Kind.CODE else ""
    return "\n".join([*lines, closing] if closing else [*lines, "", "…"])


def _titled(extract: str, passage: Scored, best: Scored, count: int) -> str:
    heading = _crumbs(passage.article)[-1]
    same_place = heading == _crumbs(best.article)[-1] and passage is not best
    return extract if count == 1 or same_place else f"**{heading}**\n\n{extract}"


def _crumbs(article: Article) -> list[str]:
    heading = article.metadata.get("heading") or ""
    below = list(heading) if isinstance(heading, list | tuple) else _CRUMB.split(str(heading))
    return list(dict.fromkeys(part for part in (article.title, *map(str, below)) if part)) or [article.url]


def _place(article: Article) -> str:
    return SEPARATOR.join(_crumbs(article))


def _source(article: Article) -> str:
    where = article.url or str(article.metadata.get("source", ""))
    place = _place(article)
    return f"- {place} — {where}" if where and where != place else f"- {place}"


def _sources(articles: Sequence[Article]) -> str:
    return "\n".join(["Sources:", *dict.fromkeys(_source(article) for article in articles)])


def _shares_words(question: str, article: Article) -> bool:
    return overlap(content_stems(question), content_stems(f"{_place(article)} {article.content}")) > 1 / 2


def _joined(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part)
