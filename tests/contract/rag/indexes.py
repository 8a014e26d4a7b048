"""What tests put into an index, whichever it is."""

from __future__ import annotations

from collections.abc import Sequence

from agents.rag.index.contract import DocumentIndex
from agents.rag.ingest.chunk import Chunk, chunk_document
from agents.rag.ingest.embedding import embed_missing
from agents.rag.ingest.markdown import parse_markdown
from tests.unit.rag.conftest import WordEmbedder

APPLES = (
    "# Fruit\n\n## Apples\n\nApples are red.\n\n### Peel\n\nPeel it thinly.\n\n## Pears\n\nPears are green.\n"
)


async def put(
    index: DocumentIndex,
    text: str = APPLES,
    *,
    location: str = "/notes/fruit.md",
    source: str = "notes/fruit.md",
    questions: Sequence[str] = (),
) -> str:
    """Put a page in Markdown; `questions` are answered by its first passage. Readers do not see it yet."""
    document = parse_markdown(text, "untitled")
    chunks = chunk_document(document, 220)
    asked = [
        Chunk(len(chunks) + at, (), chunks[0].anchor, question, chunks[0].start, chunks[0].end, 0)
        for at, question in enumerate(questions)
    ]
    return await index.put(
        location, source, document, chunks=[*chunks, *asked], digest=str(hash(text)), recipe="1"
    )


async def show(index: DocumentIndex, embedder: WordEmbedder) -> None:
    """Give every passage its vector, and show readers all."""
    await embed_missing(index, embedder)
    await index.publish(embedder.name)


async def found(index: DocumentIndex, query: str, embedder: WordEmbedder | None = None) -> list[str]:
    """The texts of the best passages."""
    vectors = list(embedder.embed_sync([query])) if embedder else []
    passages = await index.search(query, 5, model=embedder.name if embedder else "", vectors=vectors)
    return [passage.text for passage in passages]
