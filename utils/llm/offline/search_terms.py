"""What to look for, out of a sentence that asks to look for it."""

from __future__ import annotations

import re

from utils.llm.offline import entities
from utils.llm.offline.grammar import FORMS, WORDS
from utils.llm.offline.words import words

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_CODE = re.compile(r"(?<![\w/.-])([A-Za-z]\w*_\w+|[a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*|[A-Z]{4,}\d*)(?![\w/-])")


def search_terms(text: str, *, keep_question: bool, anything: bool = True) -> str | None:
    """The words to search for; `None` when nothing but the command is left.

    Args:
        text: What the user said.
        keep_question: The tool understands questions, so a question stays whole.
        anything: The tool searches among all kinds of things, so that any sentence can be searched for as a whole; else a named word.
    """
    in_quotes = entities.quoted(text)
    if in_quotes and not keep_question:
        return in_quotes
    terms = _terms(text, keep_question, anything=anything)
    if not keep_question and (named := entities.repository_text(terms)):
        before = r"\s*\b(?:of|in|from|for|on|within)?\s*(?:the\s+)?(?:repo(?:sitory)?\s+)?"
        terms = re.sub(before + re.escape(named), " ", terms)
    terms = " ".join(terms.split()).strip(" ,;" if keep_question else " ,.;?!")
    return terms if set(words(terms)) - WORDS["stop"] else None


def excerpt(text: str, longest: int) -> str:
    """A part of a text as it stands there: its last question, else its end, of `longest` characters at most."""
    sentences = [sentence.strip() for sentence in _SENTENCE_END.split(text)]
    fitting = [each for each in sentences if each.endswith("?") and len(each) <= longest]
    return fitting[-1] if fitting else text[-longest:].split(maxsplit=1)[-1].strip()


def _terms(text: str, keep_question: bool, *, anything: bool) -> str:
    whole = keep_question or anything or bool(FORMS["things"].search(_without_repository(text)))
    if not whole and (word := _named_word(text)):
        return word
    commands = ["defined", "search_terms_command", "bare_command"]
    if keep_question:
        commands = ["search_terms_command"] if FORMS["seeks"].match(text) else []
    match = next(filter(None, (FORMS[command].search(text) for command in commands)), None)
    if match:
        return FORMS["filler"].sub("", match["terms"]).strip(" ?.!") or match["terms"]
    return text if whole else ""


def _named_word(text: str) -> str | None:
    """The word that a sentence gives a name to or that is written as code: "a function called greet", "parse_config"."""
    plain = _without_repository(text)
    match = FORMS["called"].search(plain) or _CODE.search(plain)
    return match[1] if match else None


def _without_repository(text: str) -> str:
    return text.replace(entities.repository_text(text) or "\0", " ")
