"""The sentences of a message that can be understood by themselves, and the several things that it asks."""

from __future__ import annotations

import re
from collections.abc import Sequence

_END = re.compile(r"(?<=[.?!;:])\s+|\n+|(?<![^\S\n])[^\S\n]++[-\u2013\u2014]++\s+|\.\.\.\s*|\u2026\s*")
_FEWEST_WORDS = 4
"""Fewer say nothing alone: "How often?", "Any ideas?"."""
_MOST = 6
_COMMON = (
    "a|an|the|it|its|this|that|these|those|they|them|is|are|was|were|be|do|does|did|can|could|should|will|would|must|to|of|in|on|at|for|from|by|with|"
    "if|when|where|what|which|who|how|why|not|no|so|then|or|and|but|i|you|we|my|our|your|one|more|less|later|now|there|here|also|only|just|please|has|have|had"
)
_ABBREVIATED = re.compile(r"\b(?:i\.e|e\.g|etc|vs|incl)\.$", re.IGNORECASE)
_OPENERS = r"(?:(?:on|for|to|in|at|from) )?(?:what|where|how|which|who|whom|when|why|whether)"
_VERBS = r"does|do|did|is|are|can|could|should|will|would(?!\s+(?:like|love|prefer|have|be)\b)|must"
_TOLD = r"(?:know|wonder(?:ing)?|tell|show|explain|describe|say|says|see|find out|figure out|learn|understand|sure|clear|idea|clue|question is)"
"""Words that a question word follows inside of a sentence: "I want to know how"."""
_JOINT = re.compile(
    rf"(?<!\s)(?:\s*+[,;])?\s++(?:and|plus)\s+(?:also\s+|then\s+|if so,?\s+|after that,?\s+|afterwards,?\s+|finally,?\s+)?(?:please\s+)?"
    rf"(?=(?:{_OPENERS}|{_VERBS}|tell me|show me|explain|describe)\b)|,\s+(?:or\s+)?(?={_OPENERS}\b)"
    rf"|(?<!\s)\s++\((?=(?:{_OPENERS}|{_VERBS})\b[^()]*\?\))|(?<!\s)\s*+[,;]\s*+(?:and\s+)?then\s+(?!{_VERBS})",
    re.IGNORECASE,
)
"""Between two things that one sentence asks: "where is it stored and how do I back it up"."""
_ASKS = re.compile(
    rf"\?\W{{0,40}}$|(?:^\W*(?:(?:and|also|plus|but|so|then)\s+)*|[,;:(]\s*|\b{_TOLD}\s+(?:\w+\s+){{0,3}}?){_OPENERS}\b"
    rf"|^\W*(?:{_VERBS}|(?:please\s+)?(?:show|tell|explain|describe|list|give|turn|switch|set|change|add"
    r"|remove|delete|install|configure|run|start|stop|find))\b",
    re.IGNORECASE,
)
"""Asks: a question mark, a question word at the beginning or after a verb of asking, or an order. "The guy who left it" asks nothing."""
_NO_ORDER = (
    rf"{_COMMON}|he|she|his|her|their|me|us|him|about|after|before|since|until|while|during|without|within|over|under|between|into|onto|via|per"
    "|as|than|because|although|though|unless|both|all|each|every|either|neither|nor|even|still|yet|again|today|yesterday|tomorrow|tonight"
    "|maybe|perhaps|excuse|pardon|forgive|suppose|imagine|assume|say|given|thanks|got|get|need|want|love|like|found|saw|lost|forgot|made|went|ran|wrote|said|told|gave"
    r"|took|came|became|left|built|bought|works?|seems?|looks?|makes?|was|am|whats|hows|wheres|whos|whens|dont|cant|show|tell|give|list|explain|describe|whether|find|search|read|look|check|\w+ed|\w+ing|\w+ly"
)
_ORDER = re.compile(
    rf"^\W*(?:(?:please|kindly|now|then|also)\W+){{0,8}}(?!(?:{_NO_ORDER})\b)[a-z][a-z-]+\s+"
    r"(?:the|an?|my|our|your|all|every\w*|it|them|me|us|this|that|these|those)\b",
    re.IGNORECASE,
)
"""Begins with what can only be a verb, before its object: "Reboot the server", "email me"."""
_THEN = re.compile(r"^(?:and\s+)?then\s+", re.IGNORECASE)
_ALSO = re.compile(r"(?:and|also|plus)\b(?!\s+(?:if|when|while|once|since|because)\b)", re.IGNORECASE)
"""Begins a sentence that asks one thing more, so that the sentence before it asked too, but for "That helps!": "Plug it in. And what does it see?".
What only says when is no thing of its own: "and if I regret it, how …"."""
_POINTS_BACK = re.compile(r"\b(?:them|they|those|these|their|which one|that one|the ones?)\b", re.IGNORECASE)
_FEWEST_OF_A_QUESTION = 3
_LEFT_BEHIND = re.compile(
    r"(?P<verb>\b(?:switch|chang|mov|migrat|convert|swap)(?:e|es|ed|ing)?\b(?:\s+[\w./-]+){0,4}?\s+)from\s+(?:[\w./-]+\s+){1,3}?(?=to\s+\w)",
    re.IGNORECASE,
)


def aimed(text: str) -> str:
    """A text without what a change leads away from: "switch the model from A to B" asks about B."""
    return _LEFT_BEHIND.sub(r"\g<verb>", text)


def sentences(text: str) -> list[str]:
    """The sentences of four words or more, the first six; none where the text is a single one."""
    found = [part.strip() for part in _whole_sentences(text)]
    found = [part for part in found if len(part.split()) >= _FEWEST_WORDS]
    return found[:_MOST] if any(part != text.strip() for part in found) else []


def questions(text: str) -> list[str]:
    """The separate requests of a text, in order and in its own words, each after its introduction; none if there is only one.

    What is too short to be understood alone ("Which lines?") is no thing of its own.
    """
    found: list[str] = []
    pending: list[str] = []
    parts = (part.strip() for sentence in _whole_sentences(text) for part in _JOINT.split(sentence))
    for part in (_THEN.sub("", part) for part in parts):
        if len(pending) == 1 and _ALSO.match(part) and not pending[0].endswith("!"):
            found.append(pending.pop())
        pending.append(part)
        long_enough = len(part.split()) >= _FEWEST_OF_A_QUESTION + (not part.endswith("?"))
        asks = _ASKS.search(part) or (found and _ALSO.match(part))
        if not part.endswith(":") and (orders(part) or (asks and long_enough)):
            found.append(" ".join(pending))
            pending = []
    return found[:_MOST] if len(found) > 1 else []


def leaning(parts: Sequence[str]) -> list[str]:
    """The things that a text asks, each that speaks of the one before ("can I delete one of them") after that one."""
    before = ("", *parts)
    return [
        f"{each} {part}".lstrip() if _POINTS_BACK.search(part) else part
        for each, part in zip(before, parts, strict=False)
    ]


def orders(text: str) -> bool:
    """Whether a text begins as an order to do something with something."""
    return bool(_ORDER.match(text))


def _whole_sentences(text: str) -> list[str]:
    """The sentences, not cut after an abbreviation."""
    whole: list[str] = []
    for part in filter(str.strip, _END.split(text)):
        if whole and _ABBREVIATED.search(whole[-1]):
            whole[-1] = f"{whole[-1]} {part}"
        else:
            whole.append(part)
    return whole
