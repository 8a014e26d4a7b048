"""`python -m agents.rag.ship_vectors [--check]`: write the vectors of the repository's documents, or see whether they are complete.

Only passages that are new are embedded. `make docs` runs it; a test runs the check.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from agents.rag.index.embedded import EmbeddedIndex
from agents.rag.ingest.embedding import texts_of
from agents.rag.ingest.ingester import Ingester
from agents.rag.ingest.shipped import Shipped, encode_all, key_of, read_shipped, write_shipped
from agents.rag.settings import RagSettings
from utils.embeddings.minilm import MiniLmEmbedder

EXIT_STALE = 1
_ALL = 1_000_000


async def passages() -> list[str]:
    """The text of every passage of the repository's documents, as it is embedded."""
    settings = RagSettings.load({})
    with tempfile.TemporaryDirectory() as folder:
        index = EmbeddedIndex(Path(folder) / "index.sqlite")
        await index.open()
        await Ingester(index, settings, None).ingest(settings.targets())
        return texts_of(await index.stale(MiniLmEmbedder.name, 0, _ALL))


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns its exit code."""
    texts = {key_of(text): text for text in asyncio.run(passages())}
    before = read_shipped()
    known = dict(before.encoded) if before.model == MiniLmEmbedder.name else {}
    new = [text for key, text in texts.items() if key not in known]
    gone = known.keys() - texts.keys()
    if "--check" in arguments:
        if new or gone:
            sys.stdout.write(
                f"{len(new)} passages have no vector, {len(gone)} vectors no passage: run `make docs`.\n"
            )
        return EXIT_STALE if new or gone else 0
    kept = {key: known[key] for key in texts.keys() & known.keys()}
    fresh = encode_all(new, MiniLmEmbedder().embed_sync(new))
    write_shipped(Shipped(MiniLmEmbedder.name, MiniLmEmbedder.dimensions, kept | fresh))
    sys.stdout.write(f"{len(fresh)} vectors added, {len(gone)} removed, {len(kept)} kept.\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
