"""Greetings, thanks and questions about the assistant itself, told phrase by phrase: "morning! you there?" are two."""

from __future__ import annotations

import re
from enum import Enum

from utils.llm.offline.grammar import FORMS, LEXICON, part, pattern, whole


class Talk(Enum):
    """What kind of small talk a message is, the one that is answered first at the top."""

    HELP = "help"
    BYE = "bye"
    THANKS = "thanks"
    GREETING = "greeting"


LONGEST = 15
"""Words of small talk at most."""
_KINDS = tuple(
    (Talk(kind), pattern(f"{part('talk_before')}(?:{whole(forms)}){part('talk_after')}"))
    for kind, forms in LEXICON["talk"].items()
)
_CUT = re.compile(r"[\s]*[,.!?;:\n\u2026()]+\s*|\s[-\u2013\u2014]+\s")
_NOT_SAID = re.compile(r"[^\w\s',.!?;:()\u2026\u2013\u2014-]+")


def small_talk(text: str) -> Talk | None:
    """The kind of small talk that the whole text is, phrase by phrase; `None` for anything else."""
    plain = _NOT_SAID.sub(" ", text.replace("\u2019", "'"))
    if len(plain.split()) > LONGEST:
        return None
    phrases = [" ".join(each.split()) for each in _CUT.split(plain) if each.strip()]
    phrases = [each for each in phrases if not FORMS["smalltalk_aside"].fullmatch(each)] or phrases
    if FORMS["thanked"].fullmatch(plain):
        return Talk.THANKS
    kinds = {next((talk for talk, form in _KINDS if form.fullmatch(each)), None) for each in phrases}
    return None if None in kinds else next((talk for talk in Talk if talk in kinds), None)


def opens_with_a_greeting(text: str) -> bool:
    """Whether the first phrase of a text greets: "morning! coffee first"."""
    return small_talk(_CUT.split(text.strip())[0]) is Talk.GREETING


def without_prelude(text: str) -> str:
    """A request without the greeting or thanks before it."""
    return FORMS["prelude"].sub("", text)
