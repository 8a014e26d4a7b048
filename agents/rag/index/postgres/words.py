"""Full text by PostgreSQL: how texts and questions become what it compares."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
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
WITH asked AS (SELECT to_tsquery('pg_catalog.english', %(query)s) AS query)
SELECT chunk.id, ts_rank('{0, 0, 0.5, 1}', chunk.words, asked.query, 1) AS score
FROM asked, rag_chunks AS chunk JOIN rag_documents AS document ON document.id = chunk.document_id
WHERE chunk.words @@ asked.query AND document.state > 0
ORDER BY score DESC, chunk.id LIMIT %(limit)s
"""


def plain(text: str) -> str:
    """The words of a text in small letters without accents, so that the server cuts it where the index file does."""
    parts = unicodedata.normalize("NFKD", text.lower())
    return _NO_WORD.sub(" ", "".join(each for each in parts if not unicodedata.combining(each)))


def tsquery(query: str) -> str:
    """The words of a question, any of them; empty when it has none."""
    return " | ".join(telling_words(plain(query))[:_MAX_WORDS])


async def search_words(db: Connection, query: str, limit: int) -> dict[int, float]:
    """Passages that have words of a question, with their scores; larger is better."""
    asked = tsquery(query)
    if not asked:
        return {}
    rows = await (await db.execute(_SEARCH, {"query": asked, "limit": limit})).fetchall()
    return {int(row[0]): float(row[1]) for row in rows}


def words_of(title: str, heading: str, body: str) -> Sequence[str]:
    """The values of `TO_WORDS`."""
    return plain(title), plain(heading), plain(body)
