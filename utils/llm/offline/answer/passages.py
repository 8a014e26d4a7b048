"""Passages of documents as an answer: a screen with what the best sections say, each under its heading, and links to the next two.

One section seldom holds all that is asked, and the right one may be second or third: as many are quoted as a screen has room
for, with the blocks that are nearest to the question where a section is longer than its share.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from utils.llm.offline.answer.blocks import CODE, Block, blocks, heading_text, with_whole_links
from utils.llm.offline.answer.records import joined
from utils.llm.offline.grammar import FORMS
from utils.llm.offline.similarity import Similarity
from utils.llm.offline.words import content_stems, is_foreign, overlap
from utils.messages.results import Article, Articles
from utils.messages.sentences import aimed, orders, questions, sentences
from utils.messages.typing_errors import mended_by

READ = 6
"""Passages that are read: what ranks lower seldom answers."""
SCREEN = 42
"""Lines of an answer. This and the shares below were chosen with `python -m tests.eval.blind.facts`; near values score the same."""
COLUMNS = 100
FIRST = 26
"""Lines of the best section at most."""
NEXT = 14
"""Lines of each further section at most."""
FEWEST = 4
"""Lines that are too few for a section."""
MOST = 5
"""Sections that are quoted."""
ANY = 1_000
"""Lines that the nearest block of the best section may take."""
BELOW = 0.4
"""Score by which a section may be worse than the best to be quoted too."""
OPENS = 0.3
"""What the first block of a section is worth besides its closeness: sections say first what matters."""
LONG_TABLE = 900
"""Characters of a table from which only the rows that are nearest to the question are shown."""
SHOWN_ROWS = 8
SURE = 0.33
"""Fit from which the best section is taken for an answer. Chosen with development questions of tests/eval."""
ABOUT = 0.27
"""Fit below which it is about something else. Questions about anything but this project stay under it with the embedded model, questions
that the documents answer are above 0.31; without a model words alone tell too little."""
NEAR = 0.4
"""Cosine of the nearest passage from which sections are shown as uncertain although none fits."""
SHARED = 0.5
"""Share of the question's words in a section that makes up for a low fit."""
HEADING = 0.6
"""Weight of the place (title and headings) against the closest block of a section."""
SEARCHED = 0.7
"""Weight of the search engine's own score, in shares of its best, against how well a section fits."""
SAME = 0.8
"""Share of a section's words that the ones before it have already, from which it says nothing new."""
LOOKED_AT = 350
"""Characters of a block that are compared: its beginning tells what it is about, and comparing takes time."""
PART_FOUND = 0.85
"""Score of the search for one part of a question from which its best section is taken for an answer to it. This and the next were
chosen with the questions of tests/eval that ask several things."""
PART_FITS = 0.6
"""Fit of that section to the part and to the whole question, together."""
ORDER_FITS = 0.8
"""The same of a part that orders something to be done, which is seldom done by the documents: "Email the report to Bob"."""
OTHERS = 2
"""Sections that are linked."""
LEFT_OUT = "\u2026"
"""Stands for what is left out of a section."""
_PICTURE = re.compile(r"!\[[^\[\]]*\]\([^()\s]*\)")
_DIAGRAM = re.compile(r"```mermaid\b")
SEE_ALSO = "See also:"
_SECTION = re.compile(r"^\*\*([^\n]+)\*\* \u2014 (\S+)$", re.MULTILINE)
_CRUMB = re.compile(r"(?<![^\S\n])[^\S\n]*+(?:\n|>|\u203a|\u00bb)\s*")
SEPARATOR = " \u203a "
"""Between the title and the headings of a place: a single angle."""
NOTHING = "I found nothing about that in the documents."
NOT_NAMED = "No section that I found mentions {}."
UNSURE_OF = "I am not sure that these sections answer this part: {}"
UNSURE = "I am not sure that the documents answer this. These sections come nearest:"


@dataclass(frozen=True, slots=True)
class Section:
    """The passages that were found of one section, in reading order.

    Attributes:
        article: The first that was found.
        parts: Their blocks, each with how close it is to the question.
        fit: How close place and nearest block are to the question, about 0 to 1.
        score: What sections are ordered by: the fit and what the search says.
    """

    article: Article
    parts: tuple[tuple[Block, float], ...]
    fit: float
    score: float

    @property
    def stems(self) -> tuple[str, ...]:
        """Of its words."""
        return content_stems(" ".join(part.text for part, _ in self.parts))


def passages_text(question: str, found: Articles, similarity: Similarity) -> str:
    """What the best sections say, and links; a sentence where there is none."""
    question = mended_by(aimed(question), (f"{_place(each)} {each.content}" for each in found.articles))
    sections = _sections(question, found.articles[:READ], similarity)
    about = bool(sections) and _about(question, sections[0], similarity)
    near = (float(each.article.metadata.get("similarity") or 0) >= NEAR for each in sections)
    if not about and not any(near):
        return joined(NOTHING, found.note or "")
    fits = sections[0].fit >= SURE or _shared(question, sections[0]) >= SHARED
    sure = about and fits and not is_foreign(question)
    asked = _sections_of_parts(sections, found.articles, similarity)
    sections = _first([sections[0], *(each for each in asked.values() if each)], sections)
    quoted, room = (sections, SCREEN) if sure else (sections[: 1 + OTHERS], SCREEN // 2)
    shown = _screen(question, quoted, room, similarity)
    links = [link for each in sections if (link := _link(each.article)) not in shown][:OTHERS]
    see_also = "\n".join([SEE_ALSO, *links]) if links else ""
    lacking = "; ".join(part for part, section in asked.items() if section is None) if sure else ""
    named = UNSURE_OF.format(lacking) if lacking else ""
    names = ", ".join(_names_that_are_missing(question, found.articles))
    nowhere = NOT_NAMED.format(names) if names else ""
    return joined(
        nowhere, "" if sure else UNSURE, named, *shown.values(), see_also, "" if sure else found.note or ""
    )


def briefly(asked: str, text: str) -> str:
    """An answer from documents that stands beside other parts: its first sections, one for each thing asked, and the others as links."""
    answer, _, links = text.partition(f"\n\n{SEE_ALSO}\n")
    sections = [match.start() for match in _SECTION.finditer(answer)]
    things = max(1, len(questions(asked)))
    kept = next((at for at in sections[1:] if _lines(answer[:at]) > NEXT * things), None)
    if kept is None:
        return text
    left = [f"- {match[1]} \u2014 {match[2]}" for match in _SECTION.finditer(answer, kept)]
    return "\n".join([answer[:kept].rstrip(), "", SEE_ALSO, *[*left, *links.split("\n")][:OTHERS]])


def _screen(question: str, sections: Sequence[Section], room: int, similarity: Similarity) -> dict[str, str]:
    """What is shown of each section, by its link, until the room is full."""
    shown: dict[str, str] = {}
    for section in sections[:MOST]:
        worse = section.score < sections[0].score - BELOW or _said(section, list(shown.values()))
        if worse or (shown and room < FEWEST):
            continue
        share = min(room, NEXT) if shown else FIRST
        text = _quoted(question, section, share - 2, max(room - 2, NEXT) if shown else ANY, similarity)
        if text:
            heading = _with_address(f"**{_crumbs(section.article)[-1]}**", section.article)
            shown[_link(section.article)] = f"{heading}\n\n{text}"
            room -= _lines(text) + 3
    return shown


def _sections_of_parts(
    sections: Sequence[Section], articles: Sequence[Article], similarity: Similarity
) -> dict[str, Section | None]:
    """For each part of what was asked the section that the search ranks first for it; `None` where that one is about something else."""
    found: dict[str, Section | None] = {}
    for part in dict.fromkeys(part for each in articles for part in _scores(each)):
        best = max(articles, key=lambda each: _scores(each).get(part, 0.0))
        [alone] = _sections(part, [each for each in articles if each.url == best.url], similarity)
        whole = next((each for each in sections if each.article.url == best.url), None)
        ordered = orders(part)
        fit = alone.fit + (whole.fit if whole else 0.0)
        fits = fit >= ORDER_FITS if ordered else whole is sections[0] or fit >= PART_FITS
        found[part] = (whole or alone) if _scores(best)[part] >= PART_FOUND and fits else None
    return found


def _scores(article: Article) -> Mapping[str, float]:
    """By the parts of what was asked."""
    scores: Mapping[str, float] = article.metadata.get("parts") or {}
    return scores


def _names_that_are_missing(question: str, articles: Sequence[Article]) -> list[str]:
    """Names and versions in a question that no passage has, nor one that begins with them: "HashiCorp Vault", "3.9", but not "Postgres"."""
    if is_foreign(question):
        return []  # German nouns begin with a capital
    present = {stem for each in articles for stem in content_stems(f"{_place(each)} {each.content}")}
    names = (match[0] for match in FORMS["proper_name"].finditer(question))
    return [
        name
        for name in dict.fromkeys(names)
        if not any(each.startswith(stem) for stem in content_stems(name) for each in present)
    ]


def _first(chosen: Sequence[Section], sections: Sequence[Section]) -> list[Section]:
    """All sections, the chosen ones first and as good as the best, so that each has room."""
    urls = dict.fromkeys(each.article.url for each in chosen)
    by_url = {each.article.url: each for each in chosen}
    first = [replace(by_url[url], score=sections[0].score) for url in urls]
    return [*first, *(each for each in sections if each.article.url not in urls)]


def _about(question: str, section: Section, similarity: Similarity) -> bool:
    """Whether a section is about what a question is about; without an embedder only its words tell."""
    return similarity.embedder is None or section.fit >= ABOUT or _shared(question, section) > SHARED


def _said(section: Section, shown: Sequence[str]) -> bool:
    """Whether nearly all words of a section were shown already."""
    return bool(shown) and overlap(section.stems, content_stems(" ".join(shown))) >= SAME


def _quoted(question: str, section: Section, room: int, most: int, similarity: Similarity) -> str:
    """What is nearest to a question of a section, in reading order, as much as there is room for; the nearest may take `most` lines.

    Code stays with what introduces it, and with the rest of a sentence that it stands in. A few lines more are no reason to leave something out; where not even the nearest has room there
    is nothing to quote.
    """
    units: list[tuple[str, float]] = []
    for part, near in section.parts:
        if _PICTURE.fullmatch(part.text) or _DIAGRAM.match(part.text):
            continue
        text = _shown(question, part, section.article, similarity, min(most, FIRST - 2))
        after_code = bool(units) and units[-1][0].endswith("```")
        goes_on = part.kind in CODE or (after_code and part.text[:1].islower())
        if units and (goes_on or units[-1][0].endswith(":")):
            before, nearest = units.pop()
            units.append((f"{before}\n\n{text}", max(nearest, near)))
        elif text not in dict(units):
            units.append((text, near))
    kept: set[int] = set()
    for at in sorted(range(len(units)), key=lambda at: -units[at][1] - OPENS * (at == 0)):
        if _lines("\n\n".join(units[each][0] for each in (*kept, at))) <= (room if kept else most):
            kept.add(at)
    if not kept:
        return ""
    left_out = [text for at, (text, _) in enumerate(units) if at not in kept]
    if _lines("\n\n".join(left_out)) <= FEWEST and _lines("\n\n".join(text for text, _ in units)) <= most:
        kept = set(range(len(units)))
    quoted: list[str] = []
    for at, (text, _) in enumerate(units):
        if at in kept:
            quoted.append(text)
        elif quoted[-1:] != [LEFT_OUT]:
            quoted.append(LEFT_OUT)
    if quoted[-1].endswith(":"):
        quoted.append(LEFT_OUT)  # what it introduces stands in no passage
    return "\n\n".join(quoted)


def _lines(text: str) -> int:
    return sum(max(1, math.ceil(len(line) / COLUMNS)) for line in text.split("\n"))


def _sections(question: str, articles: Sequence[Article], similarity: Similarity) -> list[Section]:
    """The sections of passages, best first."""
    grouped: dict[str, list[Article]] = {}
    for article in articles:
        grouped.setdefault(article.url or _place(article), []).append(article)
    own = [
        (group[0], parts)
        for group in grouped.values()
        if (parts := [part for each in sorted(group, key=_position) for part in _body(each)])
    ]
    texts = [
        text for article, parts in own for text in (*_titles(article), *(p.text[:LOOKED_AT] for p in parts))
    ]
    near = iter(_closest(question, texts, similarity))
    most = max((article.score for article in articles), default=0.0) or 1.0
    found = []
    for article, parts in own:
        place = max([next(near) for _ in _titles(article)])
        close = tuple((part, next(near)) for part in parts)
        fit = HEADING * place + (1 - HEADING) * max(each for _, each in close)
        found.append(Section(article, close, fit, fit + SEARCHED * article.score / most))
    return sorted(found, key=lambda each: -each.score)


def _titles(article: Article) -> tuple[str, ...]:
    """What names a section: its place, its heading, and the known question that is nearest to the user's."""
    asked = str(article.metadata.get("asked") or "")
    return (_place(article), _crumbs(article)[-1], *([asked] if asked else []))


def _closest(question: str, texts: Sequence[str], similarity: Similarity) -> list[float]:
    """Closeness of each text to the question or to the sentence of it that is nearest."""
    each = [similarity.to_each(part, texts, passing=True) for part in (question, *sentences(question))]
    return [max(scores) for scores in zip(*each, strict=True)]


def _position(article: Article) -> int:
    return int(article.metadata.get("position", 0))


def _body(article: Article) -> list[Block]:
    """The blocks of a passage without the headings that its place already names."""
    place = _place(article).lower()
    parts = blocks(article.content)
    while parts and parts[0].kind == "heading" and heading_text(parts[0]).lower() in place:
        parts = parts[1:]
    if parts and parts[0].kind == "paragraph" and parts[0].text[0].islower():
        parts = parts[1:]  # the end of a sentence that began in the passage before
    while parts and parts[-1].kind == "heading":
        parts = parts[:-1]
    return parts


def _shown(question: str, part: Block, article: Article, similarity: Similarity, room: int) -> str:
    if part.kind in CODE:
        return part.text
    if part.kind == "heading":
        return f"**{heading_text(part)}**"
    text = _short_table(question, part.text, similarity, room) if part.kind == "table" else part.text
    return with_whole_links(text, article.url)


def _short_table(question: str, text: str, similarity: Similarity, room: int) -> str:
    """A table, or of one that is long or takes more than `room` lines the rows that are nearest to the question."""
    head, rows = text.split("\n")[:2], text.split("\n")[2:]
    if not rows[1:] or (_lines(text) <= room and (len(text) <= LONG_TABLE or len(rows) <= SHOWN_ROWS)):
        return text
    near = similarity.to_each(question, [row.replace("_", " ") for row in rows], passing=True)
    kept = sorted(range(len(rows)), key=lambda index: -near[index])[:SHOWN_ROWS]
    while len(kept) > 1 and _lines("\n".join([*head, *(rows[index] for index in kept)])) + 2 > room:
        kept.pop()
    left_out = f"{len(rows) - len(kept)} more rows are left out."
    return "\n".join([*head, *(rows[index] for index in sorted(kept)), "", left_out])


def _shared(question: str, section: Section) -> float:
    present = (*content_stems(_place(section.article)), *section.stems)
    return overlap(content_stems(question), present)


def _crumbs(article: Article) -> list[str]:
    heading = article.metadata.get("heading") or ""
    below = list(heading) if isinstance(heading, list | tuple) else _CRUMB.split(str(heading))
    return list(dict.fromkeys(part for part in (article.title, *map(str, below)) if part)) or [article.url]


def _place(article: Article) -> str:
    return SEPARATOR.join(_crumbs(article))


def _with_address(text: str, article: Article) -> str:
    """A heading or a place, with the address of the section where that tells more."""
    where = article.url or str(article.metadata.get("source", ""))
    return f"{text} \u2014 {where}" if where not in ("", _place(article)) else text


def _link(article: Article) -> str:
    return f"- {_with_address(_place(article), article)}"
