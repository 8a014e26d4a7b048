"""What a sentence names: repositories, numbers, branches, files, people, labels, quoted words.

Each reader takes a sentence and gives what it finds or nothing; it never guesses.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from utils.llm.offline.dates import moments
from utils.llm.offline.grammar import FORMS, NUMBERS, READERS, WORDS
from utils.llm.offline.words import KEPT, spelled_out

_SLASHED = re.compile(r"(?<![\w/.:@-])([A-Za-z0-9][\w-]*)/([\w.-]*\w)(?![\w/-])")
_OF_ANOTHER = re.compile(r"\s+(?:of|in|on|from)\s+(?:the\s+)?[A-Za-z0-9][\w-]*/[\w.-]*\w(?![\w/])")
_ITEM = re.compile(r"(?:^|(?<=[.:;!?]\s))\s*\(?[1-9]\)\s")
"""The mark before an item of a list."""
_ADDRESS = re.compile(r"https?://[^\s<>\"')]+[^\s<>\"').,;?!]")
QUOTED = re.compile(r"\"([^\"]+)\"|“([^“”]+)”|`([^`]+)`|(?<!\w)'([^']+)'(?!\w)")
_SHA = re.compile(r"(?<![\w-])(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])([0-9a-f]{7,40})(?![\w-])")


class Number(NamedTuple):
    """A number that names a thing, with the word before it ("pull request", "run", or empty)."""

    value: int
    noun: str


@lru_cache(maxsize=KEPT)
def repository(text: str) -> tuple[str, str] | None:
    """Owner and name of the first repository that a sentence names."""
    named = repositories(text) or [(match[1], match[2]) for match in _slashed(text)]
    return named[0] if named else None  # "release/1.9 of octocat/hello-world" names a branch first


def repositories(text: str) -> list[tuple[str, str]]:
    """Every repository that a sentence names as owner/name, in order."""
    named = [(match[1], match[2]) for match in _slashed(text) if not _is_branch(text, match)]
    return list(dict.fromkeys(named))


def _slashed(text: str) -> list[re.Match[str]]:
    """Two names with a slash between them that are no path and no usual pair of words."""
    return [
        match
        for match in _SLASHED.finditer(text)
        if match[0].lower() not in WORDS["no_repository"] and not _is_path(text, match)
    ]


def _is_branch(text: str, match: re.Match[str]) -> bool:
    """Whether words with a slash name a branch, or what else a repository that follows them has: "tagline/description of a/b"."""
    if _OF_ANOTHER.match(text, match.end()):
        return True
    before = text[: match.start()].rstrip().rsplit(" ", 1)[-1].lower()
    return before in WORDS["before_path"] or match[1].lower() in WORDS["branch_folder"]


def _is_path(text: str, match: re.Match[str]) -> bool:
    extension = match[2].rsplit(".", 1)[-1].lower() if "." in match[2] else ""
    if extension not in WORDS["extension"] and not FORMS["bare_file"].fullmatch(match[2]):
        return match[2].endswith(".")
    before = text[: match.start()].rstrip().rsplit(" ", 1)[-1].lower()
    return not (extension in {"js", "go", "rs"} and before in {"of", "for", "repo", "repository"})


def repository_text(text: str) -> str | None:
    """The words of the sentence that name the repository as owner/name."""
    found = repository(text)
    whole = f"{found[0]}/{found[1]}" if found else ""
    return whole if whole and whole in text else None


@lru_cache(maxsize=KEPT)
def path(text: str) -> str | None:
    """The first file or folder that a sentence names."""
    named = repository(text)
    for match in FORMS["path"].finditer(_ADDRESS.sub(" ", text)):
        if match[1].rstrip("/") != "/".join(named or ()):
            return match[1].rstrip("/")
    return None


def address(text: str) -> str | None:
    """The first web address."""
    match = _ADDRESS.search(text)
    return match[0] if match else None


def quoted(text: str) -> str | None:
    """The first words in quotation marks or backticks."""
    match = QUOTED.search(text)
    return next(filter(None, match.groups()), None) if match else None


def quotes_hidden(text: str) -> str:
    """A text of the same length in which nothing is read or cut inside of quotation marks."""
    return QUOTED.sub(lambda match: f'"{"x" * (len(match[0]) - 2)}"', text)


def without_quotes(text: str) -> str:
    """A text without what stands in it in quotation marks or backticks."""
    return QUOTED.sub(" ", text)


@lru_cache(maxsize=KEPT)
def numbers(text: str) -> tuple[Number, ...]:
    """Numbers that name things: not those of a list's items ("1) …"), counts ("last 5"), durations or dates."""
    rest = FORMS["duration"].sub(" ", FORMS["limit"].sub(" ", _ADDRESS.sub(" ", _ITEM.sub(" ", text))))
    for moment in moments(rest):
        rest = rest.replace(moment.match[0], " ")
    return tuple(Number(int(match[2]), (match[1] or "").lower()) for match in FORMS["number"].finditer(rest))


def limit(text: str) -> int | None:
    """How many are wanted: 5 in "the last 5 commits" and in "newest five"."""
    match = FORMS["limit"].search(in_digits(spelled_out(text)))
    return int(next(filter(None, match.groups()))) if match else None


def in_digits(text: str) -> str:
    """A text with "two" to "twelve" as digits."""
    return FORMS["number_word"].sub(lambda match: str(NUMBERS.index(match[0].lower()) + 2), text)


def page(text: str) -> int | None:
    """Which page of a list is wanted."""
    match = FORMS["page"].search(text)
    return int(match[1]) if match else None


def comparison(text: str) -> tuple[str, str] | None:
    """The older and the newer of two branches, tags or commits that are compared."""
    match = FORMS["comparison"].search(text)
    return (match[1], match[2]) if match else None


def commit(text: str) -> str | None:
    """A commit's hash."""
    match = _SHA.search(text)
    return match[1] if match else None


def person(text: str) -> str | None:
    """Whose work is asked for: "by mona", "@mona", "mona's issues"."""
    return READERS["person"].read(FORMS["of_others"].sub(" ", text))


def assignee(text: str) -> str | None:
    """Who has to do it: "assigned to mona"; `none` for what nobody has to do, as GitHub says it."""
    if FORMS["unassigned"].search(text):
        return "none"
    return READERS["assignee"].read(text)


def owner(text: str) -> str | None:
    """A user or organisation: from owner/name, else from the words around it."""
    named = repository(text)
    return named[0] if named else READERS["owner"].read(text)


def labels(text: str) -> list[str]:
    """Names of labels."""
    found = (next(filter(None, match.groups())) for match in FORMS["label"].finditer(text))
    return list(dict.fromkeys(found))
