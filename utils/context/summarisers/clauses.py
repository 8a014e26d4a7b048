"""Splits a conversation's text into clauses with their speaker and their content words. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from utils.context.summarisers.cut import ELLIPSIS
from utils.context.summarisers.words import capital, joins, negates

_SPEAKER = re.compile(r"(User|Assistant|System|Result of [^:\n]{1,80}): ?")
_CALL = "Assistant calls "
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])\s*(?=\S)")
_ASKS = ("?", "？")
_CLAUSE = re.compile(
    r"(?<=[,;:])\s+|(?<=[，；：])\s*(?=\S)|(?:(?<!\s)\s++)?[\u2013\u2014]\s*(?![^A-Za-z]{0,40}\d)|(?<!\s)\s++-\s+(?!\d)|(?<!\s)\s++\((?=\w)|(?<=\w)\)\s+"
)
_MEMBER = re.compile(r"(?<=[,}\]])\s*(?=[\"{\[])")
_ENDS = ",;:.，；：。"
_LONGEST = 240


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a sentence.

    Attributes:
        place: Its index in the text.
        speaker: `User`, `Assistant`, `Result of …`; empty if the text does not say.
        words: Its words without function words.
        text: The clause as written.
        asks: Whether it is part of a question.
    """

    place: int
    speaker: str
    words: tuple[str, ...]
    text: str
    asks: bool

    @property
    def short(self) -> str:
        """The clause without function words."""
        return " ".join(self.words).rstrip(_ENDS)


def clauses_of(text: str, most: int) -> list[Clause]:
    """The clauses that have content words; if they are more than `most`, the first and last halves of `most`."""
    found = list(_clauses(_lines(text)))
    if len(found) > most:
        found = [*found[: most // 2], *found[-(most // 2) :]]
    return found


def _lines(text: str) -> Iterator[tuple[str, str]]:
    """Lines with their speaker, which is that of the line before if a line names none."""
    speaker = ""
    for line in map(str.strip, text.splitlines()):
        text = line
        if match := _SPEAKER.match(line):
            speaker, text = match[1], line[match.end() :]
        elif line.startswith(_CALL):
            speaker = "Assistant"
        if text:
            yield speaker, text


def _clauses(lines: Iterable[tuple[str, str]]) -> Iterator[Clause]:
    place = 0
    for speaker, line in lines:
        for part, asks in _parts(line):
            words = _telling(part)
            if words:
                yield Clause(place, speaker, words, part.strip().rstrip(_ENDS), asks)
                place += 1


def _parts(line: str) -> Iterator[tuple[str, bool]]:
    if line.startswith((_CALL, "{", "[")):
        for member in _MEMBER.split(line):
            yield _cut(member), False
        return
    for sentence in _SENTENCE.split(line):
        for part in _CLAUSE.split(sentence):
            yield _cut(part), sentence.endswith(_ASKS)


def _cut(part: str) -> str:
    """The part, shortened in the middle if it is longer than a clause may be."""
    if len(part) <= _LONGEST:
        return part
    return f"{part[: 2 * _LONGEST // 3]}{ELLIPSIS}{part[-_LONGEST // 3 :]}"


def _telling(part: str) -> tuple[str, ...]:
    words = part.split()
    if all(map(joins, words)):
        return ()
    return tuple(
        word for place, word in enumerate(words) if not joins(word) or negates(word) or _in_name(words, place)
    )


def _in_name(words: Sequence[str], place: int) -> bool:
    """Whether a function word is part of a name ("Bank of America", "in May", "US") or of a number range."""
    word, after = words[place], words[place + 1] if place + 1 < len(words) else ""
    before = words[place - 1] if place else ""
    if before[:1].isdigit() and after[:1].isdigit():
        return True
    if capital(word):
        return place > 0 or capital(after) or (word.isupper() and len(word) > 1)
    return place > 1 and capital(before) and capital(after)
