"""Addresses of a code host, and its short form `owner/name#5`, written out in words, so that one reader understands both."""

from __future__ import annotations

import re

from utils.llm.offline.grammar import LEXICON

_TABLE = tuple((re.compile(row["form"]), row["written"]) for row in LEXICON["links"])


def links_in_words(text: str) -> str:
    """`text` with each such address replaced: ".../octocat/hello-world/pull/7" by "pull request 7 of octocat/hello-world"."""
    for form, written in _TABLE:
        text = form.sub(written, text)
    return text
