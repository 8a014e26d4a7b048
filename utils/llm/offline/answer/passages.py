"""Passages of documents as an answer: the section that fits, with its heading, and the next two as links."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from utils.llm.offline.answer.blocks import Block, Kind, blocks, heading_text
from utils.llm.offline.answer.relative_links import with_whole_links
from utils.llm.offline.similarity import Similarity
from utils.llm.offline.words import content_stems, overlap
from utils.messages.results import Article, Articles
from utils.messages.sentences import questions, sentences

READ = 6
"""Passages that are read: what ranks lower seldom answers."""
ROOM = 2_000
"""Characters of a section that are quoted; one of usual length fits whole."""
SECOND_ROOM = 800
"""Characters of a second section that is quoted besides the first."""
TIED = 0.2
"""Score by which a second section may be worse to be quoted too: nearer than that, either may be what was asked for."""
OWN = 0.6
"""Weight of one of several things that are asked against all of them: "does it leave files behind?" tells little alone."""
LONG_TABLE = 900
"""Characters of a table from which only the rows that are nearest to the question are shown."""
SHOWN_ROWS = 8
SURE = 0.33
"""Score from which a section is taken for the answer. Chosen with development questions of tests/eval."""
ABOUT = 0.27
"""Fit below which the nearest section is about something else. Questions about anything but this project stay under it with the embedded
model, questions that the documents answer are above 0.31; without a model words alone tell too little."""
NEAR = 0.4
"""Cosine of the nearest passage from which sections are shown as uncertain although none fits. Questions about anything but this project stay
under it with the embedded model, except by chance.
"""
SHARED = 0.5
"""Share of the question's words in a section that makes up for a low score."""
HEADING = 0.6
"""Weight of the place (title and headings) against the closest block of a section."""
SEARCHED = 0.7
"""Weight of the search engine's own score, in shares of its best, against how well a section fits."""
SAME = 0.8
"""Share of a second section's words that the first has already, from which the second says nothing new."""
LOOKED_AT = 350
"""Characters of a block that are compared: its beginning tells what it is about, and comparing takes time."""
OTHERS = 2
GLIMPSE = 400
"""Characters shown of a section that may not answer."""
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_CRUMB = re.compile(r"\s*(?:\n|>|\u203a|\u00bb)\s*")
SEPARATOR = " \u203a "
"""Between the title and the headings of a place: a single angle."""
NOTHING = "I found nothing about that in the documents."
UNSURE_OF = "I am not sure that the next section answers this:"
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
    """The best section, or that of each thing that the question asks, and links; a sentence where there is none."""
    own = _for_each(question, found.articles, similarity)
    if len(own) > 1:
        return _several(question, own, found.articles, similarity)
    sections = _sections(question, found.articles[:READ], similarity)
    about = bool(sections) and _about(question, sections[0], similarity)
    if not about and not any(_similarity(each.article) >= NEAR for each in sections):
        return _joined(NOTHING, found.note or "")
    best, others = sections[0], sections[1 : 1 + OTHERS]
    if not about or not _sure(question, best):
        return _joined(
            UNSURE, *(_glimpse(question, each, similarity) for each in (best, *others)), found.note or ""
        )
    shown = [_answer(question, best, ROOM, similarity)]
    tied = others and best.score - others[0].score <= TIED and others[0].fit >= SURE
    if tied and not _says(best, others[0]):
        shown, others = [*shown, _answer(question, others[0], SECOND_ROOM, similarity)], others[1:]
    return _joined(*shown, _see_also(others))


def _for_each(
    question: str, articles: Sequence[Article], similarity: Similarity
) -> dict[str, tuple[str, Section]]:
    """The best section for each of several things that a question asks, by its place, with what it answers."""
    found: dict[str, tuple[str, Section]] = {}
    for part in questions(question):
        near = [article for article in articles if part in _parts(article)]
        sections = _sections(part, near, similarity, question)
        if sections and _about(part, sections[0], similarity):
            found.setdefault(_link(sections[0].article), (part, sections[0]))
    return found


def _several(
    question: str,
    own: Mapping[str, tuple[str, Section]],
    articles: Sequence[Article],
    similarity: Similarity,
) -> str:
    """Several sections, each for a thing that the question asks, and links."""
    shown = [
        _joined(
            "" if _sure(part, section) else f"{UNSURE_OF} \u201c{part}\u201d",
            _answer(part, section, ROOM // len(own), similarity),
        )
        for part, section in own.values()
    ]
    sections = _sections(question, articles, similarity)
    return _joined(*shown, _see_also([each for each in sections if _link(each.article) not in own][:OTHERS]))


def _about(question: str, section: Section, similarity: Similarity) -> bool:
    """Whether a section is about what a question is about; without an embedder only its words tell."""
    return similarity.embedder is None or section.fit >= ABOUT or _shared(question, section) > SHARED


def _similarity(article: Article) -> float:
    return float(article.metadata.get("similarity") or 0)


def _sure(question: str, section: Section) -> bool:
    return section.fit >= SURE or _shared(question, section) >= SHARED


def _see_also(sections: Sequence[Section]) -> str:
    return "\n".join(["See also:", *(_link(each.article) for each in sections)]) if sections else ""


def _says(one: Section, other: Section) -> bool:
    """Whether a section has nearly all the words of another."""
    theirs, ours = (content_stems(" ".join(part.text for part in each.parts)) for each in (other, one))
    return overlap(theirs, ours) >= SAME


def _answer(question: str, section: Section, room: int, similarity: Similarity) -> str:
    source = f"Source: {_link(section.article).removeprefix('- ')}"
    return _joined(
        f"**{_crumbs(section.article)[-1]}**", _quoted(question, section, room, similarity), source
    )


def _sections(
    question: str, articles: Sequence[Article], similarity: Similarity, around: str = ""
) -> list[Section]:
    """The sections of passages, best first. `around`: all that the user asks, where the question is a part of it."""
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
    scores = [_parts(article).get(question, article.score) for article in articles]
    most = max(scores, default=0.0)
    near = iter(_closest(question, texts, similarity, around))
    found = []
    for rank, article, parts in own:
        place = max([next(near) for _ in _titles(article)])
        closeness = [next(near) for _ in parts]
        closest = closeness.index(max(closeness))
        searched = scores[rank] / most if most > 0 else 1 - rank / len(articles)
        fit = HEADING * place + (1 - HEADING) * closeness[closest]
        found.append(Section(article, parts, closest, fit, fit + SEARCHED * searched))
    return sorted(found, key=lambda each: -each.score)


def _parts(article: Article) -> Mapping[str, float]:
    """The score of a passage for each of several things that were asked."""
    return dict(article.metadata.get("parts") or {})


def _titles(article: Article) -> tuple[str, ...]:
    """What names a section: its place, its heading, and the known question that is nearest to the user's."""
    asked = str(article.metadata.get("asked") or "")
    return (_place(article), _crumbs(article)[-1], *([asked] if asked else []))


def _closest(question: str, texts: Sequence[str], similarity: Similarity, around: str) -> list[float]:
    """Closeness of each text to the question or to the sentence of it that is nearest, and to what stands around it."""
    each = [similarity.to_each(part, texts) for part in (question, *sentences(question))]
    own = [max(scores) for scores in zip(*each, strict=True)]
    if not around:
        return own
    whole = similarity.to_each(around, texts)
    return [OWN * part + (1 - OWN) * all_ for part, all_ in zip(own, whole, strict=True)]


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


def _quoted(question: str, section: Section, room: int, similarity: Similarity) -> str:
    """The whole section where there is room for it, else the blocks from the closest on, with the line that introduces it."""
    texts = [_linked(_shown(question, part, similarity), part, section.article) for part in section.parts]
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


def _shown(question: str, part: Block, similarity: Similarity) -> str:
    if part.kind is Kind.HEADING:
        return f"**{heading_text(part)}**"
    return _short_table(question, part.text, similarity) if part.kind is Kind.TABLE else part.text


def _linked(text: str, part: Block, article: Article) -> str:
    return text if part.kind is Kind.CODE else with_whole_links(text, article.url)


def _glimpse(question: str, section: Section, similarity: Similarity) -> str:
    """The place of a section and its first block, or the first lines of it."""
    text = _linked(_shown(question, section.parts[0], similarity), section.parts[0], section.article)
    shown = text if len(text) <= GLIMPSE else f"{text[:GLIMPSE].rsplit(None, 1)[0]} …"
    return f"{_link(section.article)}\n\n{shown}"


def _short_table(question: str, text: str, similarity: Similarity) -> str:
    head, rows = text.split("\n")[:2], text.split("\n")[2:]
    if len(text) <= LONG_TABLE or len(rows) <= SHOWN_ROWS:
        return text
    near = similarity.to_each(question, [row.replace("_", " ") for row in rows])
    kept = sorted(sorted(range(len(rows)), key=lambda index: -near[index])[:SHOWN_ROWS])
    return "\n".join(
        [*head, *(rows[index] for index in kept), "", f"{len(rows) - SHOWN_ROWS} more rows are left out."]
    )


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
