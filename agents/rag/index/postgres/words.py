"""Full text by PostgreSQL: how texts and questions become what it compares."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from agents.rag.index.lexical import telling_words

if TYPE_CHECKING:
    from utils.persistence.postgres.pool import Connection

_NO_WORD = re.compile(r"[\W_]+")
_MAX_WORDS = 64

TO_WORDS = (
    "setweight(to_tsvector('pg_catalog.english', %s), 'B') || setweight(to_tsvector('pg_catalog.english', %s), 'A')"
    " || setweight(to_tsvector('pg_catalog.english', %s), 'B')"
)
"""The words of title, headings and body, in that order; a heading counts twice as much, as in the index file."""

_SEARCH = """
WITH asked AS (
    SELECT to_tsquery('pg_catalog.english', %(any)s) AS query,
        tsvector_to_array(to_tsvector('pg_catalog.english', %(words)s)) AS lexemes
), seen AS (
    SELECT chunk.id, chunk.size, chunk.words
    FROM rag_chunks AS chunk JOIN rag_documents AS document ON document.id = chunk.document_id
    WHERE document.state > 0
), corpus AS (
    SELECT count(*) AS passages, avg(size) AS size FROM seen
), found AS MATERIALIZED (
    SELECT seen.id, seen.size, word.lexeme,
        (SELECT sum(CASE weight WHEN 'A' THEN 2 ELSE 1 END) FROM unnest(word.weights) AS weight)::float8 AS times
    FROM asked, seen, unnest(seen.words) AS word (lexeme, positions, weights)
    WHERE seen.words @@ asked.query AND word.lexeme = ANY(asked.lexemes)
), rarity AS (
    SELECT lexeme, greatest(ln((passages - count(*) + 0.5) / (count(*) + 0.5)), 0.000001)::float8 AS weight
    FROM found, corpus GROUP BY lexeme, passages
)
SELECT id, sum(weight * times * 2.2 / (times + 1.2 * (0.25 + 0.75 * found.size / corpus.size::float8))) AS score
FROM found JOIN rarity USING (lexeme), corpus GROUP BY id ORDER BY score DESC, id LIMIT %(limit)s
"""
"""BM25 as SQLite's FTS5 computes it, with a heading's words counted twice. `ts_rank` does not know how rare a word is: with it
(normalisation 1), fused with vectors, `python -m tests.eval.retrieval` finds 0.55 instead of 0.63 of the sections without headings."""


def plain(text: str) -> str:
    """The words of a text in small letters without accents, so that the server cuts it where the index file does."""
    parts = unicodedata.normalize("NFKD", text.lower())
    return _NO_WORD.sub(" ", "".join(each for each in parts if not unicodedata.combining(each)))


async def search_words(db: Connection, query: str, limit: int) -> dict[int, float]:
    """Passages that have any of the words of a question, with their scores; larger is better."""
    asked = telling_words(plain(query))[:_MAX_WORDS]
    if not asked:
        return {}
    values = {"any": " | ".join(asked), "words": " ".join(asked), "limit": limit}
    rows = await (await db.execute(_SEARCH, values)).fetchall()
    return {int(row[0]): float(row[1]) for row in rows}


def words_of(title: str, heading: str, body: str) -> tuple[int, str, str, str]:
    """How many words a passage has, and the values of `TO_WORDS`."""
    texts = plain(title), plain(heading), plain(body)
    return sum(len(text.split()) for text in texts), *texts
