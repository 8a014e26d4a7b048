"""Text of another agent inside a sentence of this service: shortened, without invisible characters. Pure."""

from __future__ import annotations

from utils.messages.invisible import seen_of

LONGEST = 1_000
"""Characters of a reason at most: a paragraph, which a person reads and a model can afford."""

LONGEST_WORK = 3_000
"""Characters of what an agent had written when it failed: as many as of an earlier result."""


def cleaned(text: str, longest: int = LONGEST) -> str:
    """The text without invisible and control characters, cut; line ends stay."""
    seen = seen_of(text).strip()
    return seen if len(seen) <= longest else f"{seen[: longest - 1]}…"


def one_line(text: str, longest: int = LONGEST) -> str:
    """The same on one line."""
    return cleaned(" ".join(text.split()), longest)


def with_quotation(sentence: str, text: str) -> str:
    """The sentence, followed by the agent's text as a quotation if there is any."""
    return " ".join(filter(None, (sentence, quotation(text))))


def with_reason(sentence: str, reason: str) -> str:
    """The sentence, and what is wrong with an answer as a quotation, since it may contain text of the agent."""
    wrong = _quoted("What is wrong", reason, LONGEST)
    return f"{sentence} {wrong}." if wrong else sentence


def quotation(text: str, longest: int = LONGEST) -> str:
    """An agent's text as a quotation whose end it cannot forge; empty if there is none."""
    return _quoted("It said", text, longest)


def _quoted(opening: str, text: str, longest: int) -> str:
    quoted = one_line(text, longest).replace('"', "'")
    return f'{opening}: "{quoted}"' if quoted else ""
