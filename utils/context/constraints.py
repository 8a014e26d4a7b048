"""Finds the user's standing constraints, which every request shows verbatim. Pure.

They are derived from the stored conversation at each request: sentences that forbid, demand, name or
prefer become constraints. Only an explicit revocation ("forget the rule about …", "you may … again")
removes one; a sentence that may be an ordinary request does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from langchain_core.messages import BaseMessage, HumanMessage

from utils.context.protocols import TokenCounter
from utils.context.rules.chinese import CHINESE
from utils.context.rules.english import ENGLISH
from utils.context.rules.french import FRENCH
from utils.context.rules.german import GERMAN
from utils.context.rules.japanese import JAPANESE
from utils.context.rules.language import LanguageRules
from utils.context.rules.spanish import SPANISH
from utils.messages.text import message_lines
from utils.messages.transcript import is_stand_in
from utils.messages.words import has_unspaced, words_of

LONGEST_CONSTRAINT = 300
"""Longest sentence, in characters, that can be a constraint."""

MOST_PER_MESSAGE = 8
"""Most constraints taken from one message."""

_LOOK_AT = 2_000

_ALPHABETIC: tuple[LanguageRules, ...] = (ENGLISH, GERMAN, SPANISH, FRENCH)
_KANA = re.compile(r"[\u3040-\u30ff]")
_HAN = re.compile(r"[\u4e00-\u9fff]")

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_QUESTION = ("?", "？")
_COMMON = frozenset(
    [
        "the",
        "a",
        "an",
        "and",
        "or",
        "to",
        "on",
        "in",
        "of",
        "at",
        "that",
        "this",
        "these",
        "those",
        "it",
        "my",
        "our",
        "your",
        "you",
        "i",
        "we",
        "me",
        "not",
        "never",
        "don't",
        "don",
        "t",
        "do",
        "please",
        "die",
        "der",
        "das",
        "den",
        "dem",
        "ein",
        "eine",
        "nicht",
        "nie",
        "niemals",
        "bitte",
        "wieder",
        "mehr",
        "auf",
        "an",
        "zu",
        "el",
        "la",
        "los",
        "las",
        "un",
        "una",
        "no",
        "nunca",
        "de",
        "por",
        "favor",
        "le",
        "les",
        "un",
        "une",
        "ne",
        "pas",
        "jamais",
        "plus",
        "de",
        "du",
        "s'il",
        "te",
        "plaît",
    ]
)
_ALL = (
    *("all", "my", "our", "alle", "meine", "unsere", "todas", "mis", "nuestras", "toutes", "mes", "nos"),
    *("所有", "全部", "我的", "すべて", "全て", "私の"),
)


class Constraint(NamedTuple):
    """A sentence of the user that holds for the whole conversation, and the id of its message."""

    text: str
    message_id: str


class Edit(NamedTuple):
    """A constraint that the user added or removed by command.

    Attributes:
        adds: Whether it was added.
        text: The constraint.
        after: Id of the last message before; empty if there was none.
    """

    adds: bool
    text: str
    after: str


class Revocation(NamedTuple):
    """What a revoking sentence removes.

    Attributes:
        words: Words that the constraint must contain.
        every: Whether it revokes all constraints.
        allows: Whether it permits something; then its words must be all words of the constraint.
    """

    words: frozenset[str] = frozenset()
    every: bool = False
    allows: bool = False


def constraints_in(
    messages: Iterable[BaseMessage], extra: Sequence[Constraint] = (), edits: Sequence[Edit] = ()
) -> list[Constraint]:
    """The constraints in force, oldest first, without duplicates.

    Args:
        messages: The conversation.
        extra: Constraints that a model found in these messages.
        edits: Constraints that the user added or removed by command, oldest first.
    """
    constraints: dict[str, Constraint] = {}
    seen = {""}
    _edit(constraints, edits, "")
    for message in messages:
        if isinstance(message, HumanMessage) and not is_stand_in(message):
            _hear(constraints, message, extra)
        seen.add(str(message.id))
        _edit(constraints, edits, str(message.id))
    _edit(constraints, [edit._replace(after="") for edit in edits if edit.after not in seen], "")
    return list(constraints.values())


def _edit(constraints: dict[str, Constraint], edits: Sequence[Edit], after: str) -> None:
    for edit in edits:
        if edit.after == after and edit.adds:
            constraints.setdefault(edit.text, Constraint(edit.text, after))
        elif edit.after == after:
            constraints.pop(edit.text, None)


def _hear(constraints: dict[str, Constraint], message: BaseMessage, extra: Sequence[Constraint]) -> None:
    """Apply what a message of the user states and revokes."""
    text = message_lines(message)
    found, revoked = detect(text)
    for revocation in revoked:
        for meant in _meant(list(constraints), revocation):
            del constraints[meant]
    quoted = [
        constraint.text
        for constraint in extra
        if constraint.message_id == message.id and constraint.text in text
    ]
    for each in (*found, *quoted):
        constraints.setdefault(each, Constraint(each, str(message.id)))


def within(constraints: Sequence[str], max_tokens: int, counter: TokenCounter) -> list[str]:
    """The newest constraints within `max_tokens` tokens together, oldest first; at least one."""
    if sum(len(text.encode("utf-8", "surrogatepass")) + 2 for text in constraints) <= max_tokens:
        return list(constraints)  # a token is at least one byte
    kept: list[str] = []
    room = max_tokens
    for text in reversed(constraints):
        room -= counter.text(text) + 2
        if room < 0 and kept:
            break
        kept.append(text)
    return kept[::-1]


@lru_cache(maxsize=4096)
def detect(text: str) -> tuple[tuple[str, ...], tuple[Revocation, ...]]:
    """Constraints that a message states, verbatim, and its revocations."""
    found: list[str] = []
    revoked: list[Revocation] = []
    for sentence in sentences(text):
        revocation = revocation_in(sentence)
        if revocation is not None:
            revoked.append(revocation)
        elif states_rule(sentence):
            found.append(sentence)
    return tuple(found[:MOST_PER_MESSAGE]), tuple(revoked)


def states_rule(sentence: str) -> bool:
    """Whether a sentence states a rule that is to hold for the whole conversation."""
    question = sentence.rstrip("\"'”’»」 ").endswith(_QUESTION)
    return any(language.matches(sentence, question=question) for language in _languages(sentence))


def _languages(sentence: str) -> tuple[LanguageRules, ...]:
    """The languages that a sentence may be written in, by its script."""
    if _KANA.search(sentence):
        return (JAPANESE,)
    return (CHINESE,) if _HAN.search(sentence) else _ALPHABETIC


def revocation_in(sentence: str) -> Revocation | None:
    """The revocation that a sentence states; `None` if it states none or is ambiguous."""
    plain = sentence.strip().rstrip(".!。！").removesuffix(" please").removesuffix(" bitte").rstrip(",，、")
    found = (
        revocation for language in _languages(plain) if (revocation := _revoked(plain, language)) is not None
    )
    return next(found, None)


def _revoked(plain: str, language: LanguageRules) -> Revocation | None:
    if allowed := language.allow.match(plain):
        what = next(part for part in allowed.groupdict().values() if part)
        return Revocation(_words(what), allows=True)
    found = language.forget.match(plain)
    if found is None:
        return None
    if found["what"]:
        return Revocation(_words(found["what"]))
    whose = (found["whose"] or "").lower()
    if found["many"] or whose.startswith(_ALL):
        return Revocation(every=True) if whose.startswith(_ALL) or found["many"] in _ALL else None
    return Revocation()


def sentences(text: str) -> list[str]:
    """The sentences of a message that may be constraints; of a long message, of its beginning and end only."""
    if len(text) > 2 * _LOOK_AT:
        text = f"{text[:_LOOK_AT]}\n{text[-_LOOK_AT:]}"
    parts = (part.strip() for part in _SENTENCE_END.split(text))
    return [part for part in parts if shortest(part) <= len(part) <= LONGEST_CONSTRAINT]


def shortest(text: str) -> int:
    """Fewest characters of a constraint: "Never!" has six, "别动生产" four."""
    return 4 if has_unspaced(text) else 6


def _meant(texts: Sequence[str], revoked: Revocation) -> list[str]:
    """The constraints that a revocation means; none if it is ambiguous."""
    if revoked.every:
        return list(texts)
    if revoked.allows:
        return [text for text in texts if _words(text) == revoked.words]
    if not revoked.words:
        return list(texts) if len(texts) == 1 else []
    return [text for text in texts if revoked.words <= _words(text)]


def _words(text: str) -> frozenset[str]:
    return frozenset(words_of(text)) - _COMMON
