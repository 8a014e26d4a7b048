"""Addresses of a code host, its short form `owner/name#5`, and "name by owner", written out in words, so that one reader understands all."""

from __future__ import annotations

import re

from utils.llm.offline.grammar import FORMS, LEXICON, whole

_TABLE = tuple(
    (re.compile(whole([row["form"]])), row["written"], FORMS[row.get("where", "anything")])
    for row in LEXICON["links"]
)


def links_in_words(text: str) -> str:
    """`text` with each of them replaced: ".../octocat/hello-world/pull/7" by "pull request 7 of octocat/hello-world"."""
    for form, written, where in _TABLE:
        if where.search(text):
            text = form.sub(written, text)
    return text
