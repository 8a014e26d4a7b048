"""Requests to change something at GitHub, told from questions by a verb that stands where a command does.

A command stands at the beginning of a sentence or part, after "please", "could you", "I need you to" and the like. "Who
merged it?", "waiting to be merged" and "how do I close it?" have no such verb.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from utils.llm.offline import entities
from utils.llm.offline.clauses import opens_a_request
from utils.llm.offline.grammar import pattern, word_set
from utils.llm.offline.tools import ToolSpec
from utils.llm.offline.words import stem

_POLITE = (
    r"(?:(?:please|kindly|now|then|also|just|ok|okay|hey|hi|(?:would|do) you mind|(?:can|could|would|will) you|go ahead and|let's|let us"
    r"|i(?: want|'d like| would like| need| ask) (?:you )?to|we (?:need|want|have) to|you (?:can|may|should)|be so kind (?:as to|and)"
    r"|feel free to|make sure (?:to|you)|don't forget to)\b[\s,]*)*"
)
_BEGINNING = r"(?P<begins>^\W*|[.;:!?,>)]\s+|\s[-\u2013\u2014]+\s+|\b(?:and|then|so|but|or)\s+)"
_COMMAND = pattern(
    rf"{_BEGINNING}(?P<polite>{_POLITE})(?P<verb>(?:re-)?[a-z]+)(?P<next>[^\w\s]?(?:-merge)?\s*(?:off\s+)?[^\s]*)"
)
_SAME = {
    verb: asked
    for asked, verbs in {
        "merge": "squash rebase",
        "trigger": "kick dispatch retrigger redeploy deploy",
        "remove": "unlabel drop",
        "edit": "modify rewrite fix",
        "comment": "note leave post",
    }.items()
    for verb in verbs.split()
} | {
    "submit": "create",
    "reassign": "assign",
    "relabel": "label",
    "reject": "dismiss",
    "abort": "cancel",
    "bump": "update",
    "launch": "run",
}
"""Verbs that ask for what another verb asks for; the tools' examples have the other one."""
_ALONE = frozenset(
    stem(verb)
    for verb in """close reopen merge squash rebase delete remove approve reject dismiss revert assign unassign reassign label unlabel
    relabel rename retitle lock unlock pin unpin archive unarchive transfer fork star unstar invite rerun retry restart trigger retrigger
    dispatch kick cancel abort publish comment reply commit push create raise submit deploy redeploy mark convert edit modify rewrite
    fix bump update change unblock reset upvote downvote react subscribe unsubscribe""".split()  # noqa: SIM905 - a list of verbs reads best as text
)
_NOUNS = frozenset(map(stem, "label comment commit push fork star merge pin lock change update".split()))  # noqa: SIM905 - as above
"""Verbs that are nouns as well: elsewhere than at the beginning they need something to act on."""
_ACTED_ON = pattern(
    r"\W*(?:it|this|that|them|these|those|the|an?|all|any|#\d*|issues?|prs?|pull|on|under|my|our|one)\b|\W*[\"“`']"
)
_OF_A_NOUN = pattern(
    r"\W*(?:of|in|for|from|by|history|counts?|lists?|notes?|page|messages?|conflicts?|requests?|dates?|logs?|[0-9a-f]{7,40})\b|\s*$"
)
"""What follows a noun that looks like a verb: "release notes", "label of", "commit 7fd1a60"."""
_THING = (
    r"(?:issue|ticket|bug|pull request|pr|branch|comment|note|message|reply|label|milestone|assignee|reviewer|review|approval|reaction"
    r"|thumbs?|title|description|release|version|tag|workflow|pipeline|build|job|tests?|ci|action|deploy\w*|name|topic|wiki|draft)s?\b"
)
_WITH_AN_OBJECT = pattern(
    rf"(?:open|file|raise|report|draft|make|start|cut|log|write|add)\s+(?:(?:an?|another|new|one)\s+(?:[\w-]+\s+){{0,3}}{_THING}|[\"“`'])"
    rf"|report\s+.{{0,40}}\bas\s+an?\s+(?:new\s+)?{_THING}"
    rf"|(?:write|post|leave|drop|put|add|send|attach|give|set|apply|move)\s+(?!me\b|us\b)(?:[^\s,.;]+\s+){{0,7}}{_THING}"
    rf"|(?:write|put)\s+[\"“`']|move\s+(?:issue|#|pr\b|pull|it\b)"
    rf"|(?:run|start|launch)\s+(?:(?:the|an?|this|that|it|all|my|our)\b|workflow)(?:.{{0,40}}\b{_THING}|\s+again)"
    r"|tag\s+(?:an?|the|this|it|commit|v?\d)\b|make\s+\S+\s+(?:private|public)\b"
    r"|(?:get|have)\s+(?:(?!that|which|were|was|been)[^\s,;]+\s+){1,6}(?:merged|closed|reopened|approved|deleted|assigned|labell?ed)\s*(?:[,.!?]|$|for\b|into\b|please\b|now\b)"
    r"|request\s+(?:an?\s+)?(?:review|changes)\b|open\s+(?:it|this|that)\s+again"
)
"""Verbs that begin other requests as well ("open README.md", "run 7 of a/b"), with what they change."""
_PUT = pattern(
    r"[a-z-]+\s+(?:the|an?|another|this)\s+(?:[^\s,.;]+\s+){0,2}?(?:label|milestone|assignee|reviewer|reaction|thumbs?.up)\b[^,.;?]{0,40}?"
    r"\b(?:on|onto|to|under|off|from)\s+(?:issue|ticket|pr\b|pull|#|it\b|this\b|that\b|both\b)"
)
"""Any verb with what is put on an issue, and the issue: "stick the label bug on #2". A verb of reading is none."""
_SEES = word_set("see view was were want need know got had quote")
_AT_GITHUB = pattern(
    r"\b(?:issues?|tickets?|pull requests?|prs?|workflows?|repositor(?:y|ies)|repos?|branch|release|git ?hub)\b|#\d"
)


class Change(NamedTuple):
    """The verb that a change is asked for with, as the tools' examples have it, and where its part of the text begins."""

    verb: str
    start: int


def asked_change(text: str) -> Change | None:
    """The first change that a text asks for."""
    plain = _quotes_emptied(text)
    at = 0
    while match := _COMMAND.search(plain, at):
        verb = _verb(match, plain)
        if verb:
            return Change(verb, match.start("polite"))
        at = max(match.start() + 1, match.end("begins"))
    return None


def changes_github(text: str) -> bool:
    """Whether a text asks for a change of something that GitHub has."""
    at_github = entities.repository(text) is not None or _AT_GITHUB.search(text) is not None
    return at_github and asked_change(text) is not None


def changing(clause: str, tools: Sequence[ToolSpec]) -> list[tuple[ToolSpec, list[str]]]:
    """The tools for the change that a clause asks for, each with its nearest examples: those of that verb, else all."""
    change = asked_change(clause)
    if change is None:
        return []
    own = [tool for tool in tools if tool.changes]
    found = [(tool, [text for text in tool.examples if _same_verb(text, change.verb)]) for tool in own]
    return [(tool, texts) for tool, texts in found if texts] or [
        (tool, list(tool.examples)) for tool in own if tool.examples
    ]


def _same_verb(example: str, verb: str) -> bool:
    change = asked_change(example)
    return change is not None and change.verb == verb


def _verb(match: re.Match[str], text: str) -> str | None:
    word, following = match["verb"].lower().replace("-", ""), match["next"]
    minds = "mind" in match["polite"].lower()
    if not minds and (word.endswith(("ed", "ing")) or (word.endswith("s") and not word.endswith("ss"))):
        return None  # "merged pull requests", "closing date of …", "comments of …"
    if _WITH_AN_OBJECT.match(text, match.start("verb")):
        return stem(_SAME.get(word, word))
    if _PUT.match(text, match.start("verb")) and not (word in _SEES or opens_a_request(word)):
        return stem(_SAME.get(word, word))
    verb = stem(word)
    if verb not in _ALONE or _OF_A_NOUN.fullmatch(following):
        return None
    if verb in _NOUNS and match["begins"].strip() and not _ACTED_ON.match(following):
        return None
    return stem(_SAME.get(word, word))


def _quotes_emptied(text: str) -> str:
    """A text whose quotations keep their marks and their length, but not their words."""
    return entities.QUOTED.sub(lambda match: f'"{" " * (len(match[0]) - 2)}"', text)
