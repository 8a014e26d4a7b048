"""BM25 over title, headings and text, by SQLite's FTS5."""

from __future__ import annotations

import re
import sqlite3

_WORDS = re.compile(r"\w+")
_MAX_WORDS = 64
_ENDING = re.compile(r"(?<=\w{3})(?:ing|ers?|ed|es|s|ly)$")
"""English endings that are left out of a comparison; FTS5 does the same with Porter's stemmer."""
_WEIGHTS = "1.0, 2.0, 1.0"
"""Of title, headings and body. Measured by `python -m tests.eval.retrieval`."""

_STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a about an and any are as at be but by can could did do does for from had has have how i if in is it "
        "its me my of on or should so than that the their them then there these they this to was we were what "
        "when where which who whom why will with would you your please tell show explain",
    )
)


def match_expression(query: str) -> str | None:
    """The FTS5 expression for a question: its words, any of them; `None` when it has no words.

    Stop words are left out unless there is nothing else. Each word is quoted, so that no character
    of a query is ever an operator.
    """
    return " OR ".join(f'"{word}"' for word in telling_words(query)[:_MAX_WORDS]) or None


def telling_words(query: str) -> list[str]:
    """The distinct words of a query without stop words, or all of them when there are no others."""
    words = list(dict.fromkeys(word.lower() for word in _WORDS.findall(query)))
    return [word for word in words if word not in _STOP_WORDS] or words


def coverage(query: str, text: str) -> float:
    """Share of the query's telling words that a text has, endings aside."""
    words = telling_words(query)
    found = {_stem(word.lower()) for word in _WORDS.findall(text)}
    return sum(_stem(word) in found for word in words) / max(len(words), 1)


def _stem(word: str) -> str:
    return _ENDING.sub("", word)


def search_words(connection: sqlite3.Connection, query: str, limit: int) -> list[tuple[int, float]]:
    """Chunk ids with their BM25 score (larger is better), best first."""
    expression = match_expression(query)
    if expression is None:
        return []
    rows = connection.execute(
        f"SELECT rowid, -bm25(words, {_WEIGHTS}) FROM words WHERE words MATCH ?"  # noqa: S608 - constant
        " ORDER BY bm25(words, " + _WEIGHTS + "), rowid LIMIT ?",
        (expression, limit),
    )
    return [(int(row[0]), float(row[1])) for row in rows]
