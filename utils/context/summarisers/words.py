"""Weights of words for condensing: content words, function words, names, numbers, negations. Pure.

The word lists are English. Words of other languages count as content words.
"""

from __future__ import annotations

from functools import lru_cache

_JOINING_WORDS = """
    a an the and or but so if then than that this these those there here it its itself he she him his her hers they
    them their theirs we us our ours you your yours i me my mine myself yourself themselves what is are was were be been
    being am do does did doing done have has had having will would shall should can could may might must of to in on at
    by for with from as into onto about over up down out off through between during while until since because though
    although however which who whom whose when where why how just really very quite pretty also too even still already
    actually basically honestly literally definitely probably maybe perhaps kind sort bit lot lots much many more most
    some any all each every both either other another such own same well oh hey hi hello yeah yes okay ok anyway thanks
    thank please sure course noted understood get gets got getting go goes going went come comes make makes made making
    take takes took keep keeps kept know knows knew think thinks thought feel feels felt like likes say says said see
    seems seem seemed want wants wanted need needs try tries tried trying look looks looking use uses used using let
    thing things stuff something anything everything way ways time times one ones lately always often sometimes usually
    again almost rather yet ever simply truly especially hopefully certainly exactly
"""
_CONTRACTED_WORDS = """
    i'm i've i'd i'll we're we've we'd we'll you're you've you'd you'll they're they've they'd they'll it's it'd it'll
    that's that'd there's here's let's he's she's who's what's
"""
_NEGATION_WORDS = """
    not no nor never none nothing nobody without cannot don't doesn't didn't can't won't isn't aren't wasn't weren't
    hasn't haven't hadn't shouldn't wouldn't couldn't mustn't
"""
_LIGHT_WORDS = """
    good great nice new little big small best better long first last next few several now today recently day days week
    year people person work working part point fact end able help helps helped find found give gives gave start started
    ask asked tell told talk sound sounds mean means hope happy glad excited love loved enjoy wonder important different
    right hard easy fun super amazing awesome fantastic absolutely totally extremely incredibly completely sense idea
    question questions details detail situation experience process guess feeling interested curious appreciate wondering
    considering matter matters huge tons whole entire
"""
_JOINING = frozenset(f"{_JOINING_WORDS} {_CONTRACTED_WORDS}".split())
_PRONOUNS = frozenset(word for word in _JOINING if word == "i" or word.startswith("i'"))
_NEGATION = frozenset(_NEGATION_WORDS.split())
_LIGHT = frozenset(_LIGHT_WORDS.split())
_ENDINGS = ("ingly", "edly", "ings", "ing", "ed", "es", "s", "ly")
_SHORTEST_STEM = 4
_REMEMBERED = 16_384
_EDGES = "\"'\u2018\u2019\u201c\u201d.,;:!?()[]{}*`<>"
_CURLY = "\u2019"
_LIGHT_FACTOR = 0.35


@lru_cache(maxsize=_REMEMBERED)
def bare(word: str) -> str:
    """A word in lower case, without surrounding punctuation, with a straight apostrophe."""
    return word.strip(_EDGES).lower().replace(_CURLY, "'")


@lru_cache(maxsize=_REMEMBERED)
def stem(plain: str) -> str:
    """A bare word without possessive and common English endings."""
    plain = plain.removesuffix("'s")
    for ending in _ENDINGS:
        if plain.endswith(ending) and len(plain) - len(ending) >= _SHORTEST_STEM:
            return plain[: -len(ending)]
    return plain


@lru_cache(maxsize=_REMEMBERED)
def joins(word: str) -> bool:
    """Whether a word is a function word or only punctuation."""
    plain = bare(word)
    return not plain or plain in _JOINING


def negates(word: str) -> bool:
    """Whether a word negates; such words are never dropped."""
    return bare(word) in _NEGATION


@lru_cache(maxsize=_REMEMBERED)
def capital(word: str) -> bool:
    """Whether a word is capitalised, and not the pronoun "I"."""
    return word.lstrip(_EDGES)[:1].isupper() and bare(word) not in _PRONOUNS


def weight(word: str, *, opens: bool, rarity: float) -> float:
    """The weight of a word.

    Args:
        word: The word as written.
        opens: Whether a clause begins with it, where capitalisation means little.
        rarity: From 0 for a word in every clause to 1 for one that occurs once.
    """
    within, opening, factor = _form(word)
    return (_RARITY * rarity + (opening if opens else within)) * factor


@lru_cache(maxsize=_REMEMBERED)
def _form(word: str) -> tuple[float, float, float]:
    """Weight of a word's form inside a clause and at its beginning, and a factor for the whole weight."""
    plain = bare(word)
    factor = _LIGHT_FACTOR if plain in _LIGHT else 1.0
    if any(char.isdigit() for char in plain):
        return _NUMBER, _NUMBER, factor
    return (_NAME, _OPENING_NAME, factor) if capital(word) else (0.0, 0.0, factor)


_RARITY, _NUMBER, _NAME, _OPENING_NAME = 0.8, 1.2, 1.8, 0.55
"""Tuned on the scenarios that `tests/eval/context.py` names for tuning."""
