"""Passages of documents as an answer: the section that fits, with its heading, and the next two as links."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from utils.llm.offline.answer.blocks import Block, Kind, blocks, heading_text
from utils.llm.offline.answer.relative_links import with_whole_links
from utils.llm.offline.grammar import pattern
from utils.llm.offline.similarity import Similarity
from utils.llm.offline.words import content_stems, overlap
from utils.messages.results import Article, Articles
from utils.messages.sentences import sentences

READ = 6
"""Passages that are read: what ranks lower seldom answers."""
ROOM = 2_000
"""Characters of a section that are quoted; one of usual length fits whole."""
SECOND_ROOM = 800
"""Characters of a second section that is quoted besides the first."""
TIED = 0.2
"""Score by which a second section may be worse to be quoted too: nearer than that, either may be what was asked for."""
ASPECT = 0.4
"""Closeness of a section's titles to one of several things that a question asks from which it answers that one too."""
NEARER = 0.1
"""How much nearer than the best section's titles they are then."""
LONG_TABLE = 900
"""Characters of a table from which only the rows that share words with the question are shown."""
SHOWN_ROWS = 8
SURE = 0.33
"""Score from which a section is taken for the answer. Chosen with development questions of tests/eval."""
ABOUT = 0.27
"""Fit below which the nearest section is about something else. Questions about anything but this project stay under it with the embedded
model, questions that the documents answer are above 0.31; without a model words alone tell too little."""
SHARED = 0.5
"""Share of the question's words in a section that makes up for a low score."""
HEADING = 0.6
"""Weight of the place (title and headings) against the closest block of a section."""
SEARCHED = 1.0
"""Weight of the search engine's own score, in shares of its best, against how well a section fits."""
SAME = 0.8
"""Share of a second section's words that the first has already, from which the second says nothing new."""
LOOKED_AT = 350
"""Characters of a block that are compared: its beginning tells what it is about, and comparing takes time."""
OTHERS = 2
GLIMPSE = 400
"""Characters shown of a section that may not answer."""
_ASPECT = pattern(
    r"(?:[,;]\s*|\s)(?:and|or)\s+(?:also\s+)?(?=(?:what|where|how|which|who|when|why|does|do|did|is|are|can|could|should|on (?:what|which))(?:'?s)?\b)"
)
"""Between two things that one question asks: "where is it stored and how do I back it up"."""
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_CRUMB = re.compile(r"\s*(?:\n|>|\u203a|\u00bb)\s*")
SEPARATOR = " \u203a "
"""Between the title and the headings of a place: a single angle."""
NOTHING = "I found nothing about that in the documents."
UNSURE = "I am not sure that the documents answer this. These sections come nearest:"


@dataclass(frozen=True, slots=True)
class Section:
    """The passages that were found of one section, in reading order.

    Attributes:
        article: The first that was found.
        parts: Their blocks.
        closest: The place of the block that is closest to the question.
        fit: How close place and block are to the question, about 0 to 1.
        score: What sections are ordered by: the fit and what the search says.
    """

    article: Article
    parts: tuple[Block, ...]
    closest: int
    fit: float
    score: float


def passages_text(question: str, found: Articles, similarity: Similarity) -> str:
    """The best section, a second that is as good, and links; three links where none fits well; a sentence where there is none."""
    sections = sorted(_sections(question, found.articles[:READ], similarity), key=lambda each: -each.score)
    if not sections:
        return _joined(NOTHING, found.note or "")
    best, others = sections[0], sections[1 : 1 + OTHERS]
    strange = similarity.embedder is not None and best.fit < ABOUT
    if strange and _shared(question, best) <= SHARED:
        return _joined(NOTHING, found.note or "")
    if best.fit < SURE and _shared(question, best) < SHARED:
        return _joined(UNSURE, *(_glimpse(question, each) for each in (best, *others)), found.note or "")
    shown = [_answer(question, best, ROOM)]
    if beside := _for_the_rest(question, best, sections[1:], similarity):
        shown = [*shown, *(_answer(question, each, SECOND_ROOM) for each in beside)]
        others = [each for each in sections[1:] if each not in beside][:OTHERS]
    elif (
        others
        and best.score - others[0].score <= TIED
        and others[0].fit >= SURE
        and not _says(best, others[0])
    ):
        shown, others = [*shown, _answer(question, others[0], SECOND_ROOM)], others[1:]
    see_also = "\n".join(["See also:", *(_link(each.article) for each in others)]) if others else ""
    return _joined(*shown, see_also)


def _for_the_rest(
    question: str, best: Section, others: Sequence[Section], similarity: Similarity
) -> list[Section]:
    """The sections for those of several things a question asks that another section answers better than the best one."""
    asked = [part for sentence in sentences(question) or [question] for part in _ASPECT.split(sentence)]
    found: list[Section] = []
    for part in asked if len(asked) > 1 else ():
        each = [best, *others]
        near = [max(similarity.to_each(part, _titles(section.article))) for section in each]
        nearest = each[near.index(max(near))]
        clearly = max(near) >= ASPECT and max(near) >= near[0] + NEARER
        if clearly and nearest not in found and not _says(best, nearest):
            found.append(nearest)
    return found


def _says(one: Section, other: Section) -> bool:
    """Whether a section has nearly all the words of another."""
    theirs, ours = (content_stems(" ".join(part.text for part in each.parts)) for each in (other, one))
    return overlap(theirs, ours) >= SAME


def _answer(question: str, section: Section, room: int) -> str:
    source = f"Source: {_link(section.article).removeprefix('- ')}"
    return _joined(f"**{_crumbs(section.article)[-1]}**", _quoted(question, section, room), source)


def _sections(question: str, articles: Sequence[Article], similarity: Similarity) -> list[Section]:
    grouped: dict[str, list[tuple[int, Article]]] = {}
    for rank, article in enumerate(articles):
        grouped.setdefault(article.url or _place(article), []).append((rank, article))
    own = [
        (
            group[0][0],
            group[0][1],
            tuple(part for _, each in sorted(group, key=_position) for part in _body(each)),
        )
        for group in grouped.values()
    ]
    own = [entry for entry in own if entry[2]]
    texts = [
        text
        for _, article, parts in own
        for text in (*_titles(article), *(p.text[:LOOKED_AT] for p in parts))
    ]
    most = max((article.score for article in articles), default=0.0)
    near = iter(_closest(question, texts, similarity))
    found = []
    for rank, article, parts in own:
        place = max([next(near) for _ in _titles(article)])
        closeness = [next(near) for _ in parts]
        closest = closeness.index(max(closeness))
        searched = article.score / most if most > 0 else 1 - rank / len(articles)
        fit = HEADING * place + (1 - HEADING) * closeness[closest]
        found.append(Section(article, parts, closest, fit, fit + SEARCHED * searched))
    return found


def _titles(article: Article) -> tuple[str, ...]:
    """What names a section: its place, its heading, and the known question that is nearest to the user's."""
    asked = str(article.metadata.get("asked") or "")
    return (_place(article), _crumbs(article)[-1], *([asked] if asked else []))


def _closest(question: str, texts: Sequence[str], similarity: Similarity) -> list[float]:
    """Closeness of each text to the question or to the sentence of it that is nearest."""
    each = [similarity.to_each(part, texts) for part in (question, *sentences(question))]
    return [max(scores) for scores in zip(*each, strict=True)]


def _position(ranked: tuple[int, Article]) -> int:
    return int(ranked[1].metadata.get("position", 0))


def _body(article: Article) -> list[Block]:
    """The blocks of a passage without the headings that its place already names."""
    place = _place(article).lower()
    parts = blocks(_COMMENT.sub("", article.content))
    while parts and parts[0].kind is Kind.HEADING and heading_text(parts[0]).lower() in place:
        parts = parts[1:]
    while parts and parts[-1].kind is Kind.HEADING:
        parts = parts[:-1]
    return parts


def _quoted(question: str, section: Section, room: int) -> str:
    """The whole section where there is room for it, else the blocks from the closest on, with the line that introduces it."""
    texts = [_linked(_shown(question, part), part, section.article) for part in section.parts]
    first = 0 if sum(map(len, texts)) <= room else section.closest
    if first and (texts[first - 1].endswith(":") or section.parts[first].kind is Kind.CODE):
        first -= 1
    shown: list[str] = []
    for text in texts[first:]:
        if shown and sum(map(len, shown)) + len(text) > room:
            shown.append("…")
            break
        if text not in shown:
            shown.append(text)
    return "\n\n".join(["…", *shown] if first else shown)


def _shown(question: str, part: Block) -> str:
    if part.kind is Kind.HEADING:
        return f"**{heading_text(part)}**"
    return _short_table(question, part.text) if part.kind is Kind.TABLE else part.text


def _linked(text: str, part: Block, article: Article) -> str:
    return text if part.kind is Kind.CODE else with_whole_links(text, article.url)


def _glimpse(question: str, section: Section) -> str:
    """The place of a section and its first block, or the first lines of it."""
    text = _linked(_shown(question, section.parts[0]), section.parts[0], section.article)
    shown = text if len(text) <= GLIMPSE else f"{text[:GLIMPSE].rsplit(None, 1)[0]} …"
    return f"{_link(section.article)}\n\n{shown}"


def _short_table(question: str, text: str) -> str:
    lines = text.split("\n")
    if len(text) <= LONG_TABLE:
        return text
    wanted = content_stems(question)
    near = [overlap(wanted, content_stems(line.replace("_", " "))) for line in lines[2:]]
    order = sorted(range(len(near)), key=lambda index: -near[index])[:SHOWN_ROWS]
    left_out = len(near) - len(order)
    rows = [lines[2 + index] for index in sorted(order)]
    return "\n".join([*lines[:2], *rows, "", f"{left_out} more rows are left out."]) if left_out else text


def _shared(question: str, section: Section) -> float:
    text = " ".join(part.text for part in section.parts)
    return overlap(content_stems(question), content_stems(f"{_place(section.article)} {text}"))


def _crumbs(article: Article) -> list[str]:
    heading = article.metadata.get("heading") or ""
    below = list(heading) if isinstance(heading, list | tuple) else _CRUMB.split(str(heading))
    return list(dict.fromkeys(part for part in (article.title, *map(str, below)) if part)) or [article.url]


def _place(article: Article) -> str:
    return SEPARATOR.join(_crumbs(article))


def _link(article: Article) -> str:
    where, place = article.url or str(article.metadata.get("source", "")), _place(article)
    return f"- {place} — {where}" if where and where != place else f"- {place}"


def _joined(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part)
