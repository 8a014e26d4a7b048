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
from utils.messages.text import message_text

LONGEST_CONSTRAINT = 300
"""Longest sentence, in characters, that can be a constraint."""

MOST_PER_MESSAGE = 8
"""Most constraints taken from one message."""

_LOOK_AT = 2_000

_PLEASE = r"^(?:[-*•\d.)\s]*)(?:(?:and|but|also|please|important|note|remember|rule|ps)\b[:,]?\s*)*"
_OWNED = (
    "id|name|email|e-mail|account|team|username|user|timezone|time zone|repo|repository|cluster|namespace|"
    "project|environment|region|tenant|budget|deadline|branch"
)
_RULES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        _PLEASE + r"(?:never|always|do not|don't|under no circumstances|from now on|at no time)\b",
        r"\byou (?:must|may not|should never|should always|are not allowed|can't|cannot|shall)\b",
        r"\b(?:must|may|should|shall) (?:never|not|always)\b",
        r"\b(?:is|are) (?:forbidden|prohibited|off[- ]limits|not allowed|read[- ]only)\b",
        _PLEASE + r"only (?:use|work|read|touch|answer|change|look)\b",
        _PLEASE + r"(?:remember|keep in mind|bear in mind|note) that\b",
        r"^(?:\W*(?:hi|hello|hey)\W+)?(?:my name is|call me|i go by)\b",
        rf"\b(?:my|our) (?:[\w-]+ ){{0,2}}(?:{_OWNED}) is\b",
        r"^i (?:prefer|would rather|always want|never want|want you to always|need all|want all)\b",
        _PLEASE
        + r"(?:answer|reply|respond|write) (?:me )?(?:only )?in (?:[A-Z]\w+|bullet|one|two|three|short)\b",
    )
)
_POLITE = r"^(?:(?:please|ok|okay|now|so|then)\b,? )*"
_FORGET = re.compile(
    _POLITE
    + r"(?:forget|ignore|disregard|unpin) (?P<whose>all(?: of)?(?: my| our| the)?|my|our|the|that|this) "
    r"(?:(?:earlier|previous|old|last|first|standing|pinned) )*(?:rule|constraint|restriction|prohibition)(?P<many>s?)"
    r"(?: (?:about|on|for|against|that|not to|never to|to) (?P<what>.+))?$",
    re.IGNORECASE,
)
_ALLOW = re.compile(_POLITE + r"you (?:may|are allowed to) (?P<what>.+) again$", re.IGNORECASE)
_WORD = re.compile(r"[\w'-]+")
_COMMON = frozenset(
    {
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
        "do",
        "please",
    }
)


class Constraint(NamedTuple):
    """A sentence of the user that holds for the whole conversation, and the id of its message."""

    text: str
    message_id: str


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


def constraints_in(messages: Iterable[BaseMessage], extra: Sequence[Constraint] = ()) -> list[Constraint]:
    """The constraints in force, oldest first, without duplicates.

    Args:
        messages: The conversation.
        extra: Constraints that a model found in these messages.
    """
    constraints: dict[str, Constraint] = {}
    for message in messages:
        if not isinstance(message, HumanMessage):
            continue
        text = message_text(message)
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
    return list(constraints.values())


def within(constraints: Sequence[Constraint], max_tokens: int, counter: TokenCounter) -> list[Constraint]:
    """The newest constraints within `max_tokens` tokens together, oldest first; at least one."""
    if (
        sum(len(constraint.text.encode("utf-8", "surrogatepass")) + 2 for constraint in constraints)
        <= max_tokens
    ):
        return list(constraints)  # a token is at least one byte
    kept: list[Constraint] = []
    room = max_tokens
    for constraint in reversed(constraints):
        room -= counter.text(constraint.text) + 2
        if room < 0 and kept:
            break
        kept.append(constraint)
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
        elif not sentence.endswith("?") and any(rule.search(sentence) for rule in _RULES):
            found.append(sentence)
    return tuple(found[:MOST_PER_MESSAGE]), tuple(revoked)


def revocation_in(sentence: str) -> Revocation | None:
    """The revocation that a sentence states; `None` if it states none or is ambiguous."""
    plain = sentence.strip().rstrip(".!").removesuffix(" please").rstrip(",")
    if allowed := _ALLOW.match(plain):
        return Revocation(_words(allowed["what"]), allows=True)
    asked = _FORGET.match(plain)
    if asked is None:
        return None
    if asked["what"]:
        return Revocation(_words(asked["what"]))
    if asked["many"]:
        whose = asked["whose"].lower()
        return Revocation(every=True) if whose.startswith(("all", "my", "our")) else None
    return Revocation()


def sentences(text: str) -> list[str]:
    """The sentences of a message that may be constraints; of a long message, of its beginning and end only."""
    if len(text) > 2 * _LOOK_AT:
        text = f"{text[:_LOOK_AT]}\n{text[-_LOOK_AT:]}"
    parts = (part.strip() for part in re.split(r"(?<=[.!?])\s+|\n+", text))
    return [part for part in parts if 6 <= len(part) <= LONGEST_CONSTRAINT]  # noqa: PLR2004 - "Never!" has six


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
    return frozenset(_WORD.findall(text.lower())) - _COMMON
