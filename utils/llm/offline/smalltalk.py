"""Greetings, thanks, moods and questions about the assistant itself: told phrase by phrase, "morning! you there?" are two, or by the
nearest example.
"""

from __future__ import annotations

import re
from enum import Enum

from utils.llm.offline import entities
from utils.llm.offline.changes import asked_change
from utils.llm.offline.grammar import FORMS, LEXICON, part, pattern, whole
from utils.llm.offline.kinds import RequestKind, kinds_of
from utils.llm.offline.particulars import links_in_words
from utils.llm.offline.similarity import Similarity


class Talk(Enum):
    """What kind of small talk a message is, the one that is answered first at the top."""

    HELP = "help"
    SORRY = "sorry"
    BYE = "bye"
    THANKS = "thanks"
    LEFT = "left"
    AGREED = "agreed"
    NOTED = "noted"
    GREETING = "greeting"


LONGEST = 15
"""Words of small talk that is told by its phrases at most."""
LONGEST_LIKE = 30
"""The same by the nearest example."""
LIKE = 0.42
"""Closeness to an example from which a message is small talk. No question of tests/eval on documents or GitHub is above 0.39."""
TALKS = 0.8
"""Share of the network of kinds from which it is small talk, however far its nearest example is."""
_KINDS = tuple(
    (Talk(kind), pattern(f"{part('talk_before')}(?:{whole(forms)}){part('talk_after')}"))
    for kind, forms in LEXICON["talk"].items()
)
_EXAMPLES = tuple((Talk(kind), text) for kind, texts in LEXICON["talk_like"].items() for text in texts)
_CUT = re.compile(r"[\s]*[,.!?;:\n\u2026()]+\s*|\s[-\u2013\u2014]+\s")
_NOT_SAID = re.compile(r"[^\w\s',.!?;:()\u2026\u2013\u2014-]+")


def small_talk(text: str) -> Talk | None:
    """The kind of small talk that the whole text is, phrase by phrase; `None` for anything else."""
    plain = _NOT_SAID.sub(" ", text.replace("\u2019", "'"))
    if len(plain.split()) > LONGEST:
        return None
    phrases = _phrases(plain)
    phrases = [each for each in phrases if not FORMS["smalltalk_aside"].fullmatch(each)] or phrases
    if FORMS["thanked"].fullmatch(plain):
        return Talk.THANKS
    kinds = {next((talk for talk, form in _KINDS if form.fullmatch(each)), None) for each in phrases}
    return None if None in kinds else next((talk for talk in Talk if talk in kinds), None)


def talk_of(request: str, similarity: Similarity) -> Talk | None:
    """The kind of small talk that a whole request is; without an embedder its phrases alone tell."""
    said = without_prelude(request)
    told = small_talk(said) or small_talk(request)
    return told or _like_an_example(said, similarity, greets=opens_with_a_greeting(request))


def _phrases(text: str) -> list[str]:
    return [" ".join(each.split()) for each in _CUT.split(_NOT_SAID.sub(" ", text)) if each.strip()]


def _like_an_example(text: str, similarity: Similarity, *, greets: bool) -> Talk | None:
    """By the nearest example, where a text names nothing that can be looked up."""
    reading = links_in_words(text)
    named = entities.repository(reading) or entities.numbers(reading) or entities.path(reading)
    of_a_name = "?" in text and not greets and FORMS["proper_name"].search(text)
    asks = named or "`" in text or asked_change(reading) or of_a_name
    if similarity.embedder is None or asks or len(text.split()) > LONGEST_LIKE:
        return None
    near = similarity.to_each(text, [example for _, example in _EXAMPLES])
    best = max(range(len(near)), key=near.__getitem__)
    like = _EXAMPLES[best][0]
    if near[best] < LIKE and kinds_of(text, similarity.embedder).get(RequestKind.TALK, 0.0) < TALKS:
        return None
    no_bye = like is Talk.BYE and Talk.BYE not in map(
        small_talk, _phrases(text)
    )  # "I'll try it for two weeks"
    return Talk.GREETING if greets and (no_bye or near[best] < LIKE) else like


def opens_with_a_greeting(text: str) -> bool:
    """Whether the first phrase of a text greets: "morning! coffee first"."""
    return small_talk(_CUT.split(text.strip())[0]) is Talk.GREETING


def without_prelude(text: str) -> str:
    """A request without the greeting or thanks before it."""
    return FORMS["prelude"].sub("", text)
