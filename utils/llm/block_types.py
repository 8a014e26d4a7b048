"""Keeps LangChain from deriving which types of blocks hold data anew for each block of each request.

It reads them from the annotations of its types, which never change and take 0.4 ms of the processor: twice the rest of what
building a short request takes.
"""

from __future__ import annotations

from functools import cache

from langchain_core.messages import content

DERIVED = "_get_data_content_block_types"
"""LangChain's function that derives them."""


def derive_block_types_once() -> None:
    """Keep what LangChain derives, in the whole process. Another version, which may have no such function, stays as it is."""
    derive = getattr(content, DERIVED, None)
    if derive is not None and not hasattr(derive, "cache_info"):
        setattr(content, DERIVED, cache(derive))
