"""How many word pieces a text is, near enough to cut chunks by, without loading a tokenizer.

WordPiece (BERT, MiniLM) gives each punctuation mark a piece and splits words by their rarity. The
estimate counts words by length and symbols one by one; a test holds it against the real
tokenizer. Texts without spaces (Chinese, Japanese) are one piece a character, as in WordPiece.
"""

from __future__ import annotations

import re

_TOKENS = re.compile(r"[a-zA-Z]+|\d+|[^\W\d_a-zA-Z]|[^\w\s]|_")
_WHOLE_WORD = 8
"""Letters up to which an English word is mostly one piece."""
_PIECE = 4
"""Mean letters of the further pieces of a long or rare word; digits split about alike."""


def count_pieces(text: str) -> int:
    """Estimated word pieces of `text`."""
    return sum(_pieces_of(match) for match in _TOKENS.findall(text))


def _pieces_of(token: str) -> int:
    if len(token) == 1:
        return 1
    if token[0].isdigit():
        return -(-len(token) // _PIECE)
    return 1 if len(token) <= _WHOLE_WORD else 1 + (len(token) - _WHOLE_WORD + _PIECE - 1) // _PIECE
