"""Requests to change something, told from requests to read by the verb that they begin with.

Which verbs change something is declared by the tools: by the examples of those that carry `changes`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from utils.llm.offline.tools import ToolSpec
from utils.llm.offline.words import stem

_COMMAND = re.compile(
    r"^\W*(?:(?:please|kindly|now|then|and|also|just|ok|okay|(?:would|do) you (?P<politely>mind)|(?:can|could|would|will) you|"
    r"go ahead and|let's|let us|"
    r"i(?: want|'d like| would like| need) (?:you )?to)\b[\s,]*)*(?P<verb>re-?[a-z]+|[a-z]+)\s*(?P<next>\S*)",
    re.IGNORECASE,
)
_ONE_MORE = re.compile(r"(?:an?|new|another)\b|[\"“`']", re.IGNORECASE)
_NAMES_TOO = {
    "open": _ONE_MORE,
    stem("file"): _ONE_MORE,
    "report": _ONE_MORE,
    stem("write"): re.compile(r"[\"“`']"),
    "run": re.compile(r"(?:the|an?|this|that|it|all)\b", re.IGNORECASE),
}
"""Verbs that begin other requests as well ("open README.md", "run 7 of a/b"), with what follows them in a change."""
_OF_A_NOUN = re.compile(r"(?:of|in|for|from|by|history|count|list|notes?|page)\b", re.IGNORECASE)
"""What follows a noun that looks like a verb: "release notes", "label of"."""


def verb_of_change(text: str) -> str | None:
    """The stem of the verb that a text begins with as a command would, without a hyphen."""
    match = _COMMAND.match(text)
    if not match:
        return None
    word, following = match["verb"].lower().replace("-", ""), match["next"]
    if word.endswith("ed") or (word.endswith("ing") and not match["politely"]):
        return None  # "merged pull requests", "closing date of …"
    verb = stem(word)
    wanted = _NAMES_TOO.get(verb)
    fits = wanted.match(following) if wanted else following and not _OF_A_NOUN.match(following)
    return verb if fits else None


def changing(clause: str, tools: Sequence[ToolSpec]) -> list[tuple[ToolSpec, list[str]]]:
    """The tools that declare the change that a clause asks for, each with its examples of that verb."""
    verb = verb_of_change(clause)
    found = [
        (tool, [example for example in tool.examples if verb_of_change(example) == verb])
        for tool in tools
        if verb and tool.changes
    ]
    return [(tool, examples) for tool, examples in found if examples]
