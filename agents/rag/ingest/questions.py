"""Questions that people ask, as passages of their own which point at the section that answers them (document expansion).

`questions.yaml` holds them for the pages of this repository, by page and anchor. A heading is one question more: it says
in few words what the section is about.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from agents.rag.ingest.chunk import Chunk
from agents.rag.ingest.names import REPOSITORY

QUESTIONS_FILE = Path(__file__).with_name("questions.yaml")


@lru_cache(maxsize=1)
def read_questions(path: Path = QUESTIONS_FILE) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """Questions by page and anchor."""
    import yaml

    loader = getattr(
        yaml, "CSafeLoader", yaml.SafeLoader
    )  # a tenth of the time, where PyYAML came with libyaml
    pages = yaml.load(path.read_text(encoding="utf-8"), loader)  # noqa: S506 - both are safe
    return {
        page: {anchor: tuple(filter(None, lines.split("\n"))) for anchor, lines in sections.items()}
        for page, sections in pages.items()
    }


def questions_of(name: str, path: Path | None) -> Mapping[str, tuple[str, ...]]:
    """Questions by anchor for a document of this repository; none for any other, whatever its name is."""
    ours = path is not None and path.absolute().is_relative_to(REPOSITORY)
    return read_questions().get(name, {}) if ours else {}


def digest_of(questions: Mapping[str, Sequence[str]]) -> str:
    """What changes when the questions of a document change; empty without questions."""
    text = repr(sorted((anchor, *asked) for anchor, asked in questions.items()))
    return hashlib.sha256(text.encode()).hexdigest()[:12] if questions else ""


def question_chunks(questions: Mapping[str, Sequence[str]], chunks: Sequence[Chunk]) -> list[Chunk]:
    """A passage for each question and heading; `answered_by` is the place of its section's first passage."""
    first: dict[str, Chunk] = {}
    for chunk in chunks:
        first.setdefault(chunk.anchor, chunk)
    asked = [
        (section, text)
        for anchor, section in first.items()
        if anchor in questions
        for text in (*section.path[-1:], *questions[anchor])
    ]
    return [
        Chunk(len(chunks) + at, (), section.anchor, text, section.start, section.end, section.position)
        for at, (section, text) in enumerate(asked)
    ]
