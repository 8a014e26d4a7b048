"""The words of all passages, by which a word of a question that none of them has is read as the one that was meant."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from utils.messages.typing_errors import counted, mended, nearest


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words of the passages of one state of an index, the most frequent first.

    Attributes:
        generation: The state of the index; -1 of none.
        words: Lower-case words, without short ones and names of files and settings.
    """

    generation: int = -1
    words: Collection[str] = field(default_factory=dict)

    def read(self, query: str, strange: Collection[str]) -> str:
        """A query with each of the words that no passage has replaced by the one that was meant, where there is one.

        Args:
            query: The question or keywords.
            strange: Those of its words that no passage has, in lower case, in no form.
        """
        unknown = set(strange) - set(self.words)
        return mended(query, lambda word: nearest(word, self.words) if word in unknown else None)


def vocabulary_of(generation: int, texts: Iterable[str]) -> Vocabulary:
    """The words of some texts."""
    return Vocabulary(generation, counted(texts))
