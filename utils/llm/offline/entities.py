"""What a sentence names: repositories, numbers, branches, files, people, labels, quoted words.

Each reader takes a sentence and gives what it finds or nothing; it never guesses.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from utils.llm.offline.grammar import MONTHS, form, pattern, reader, word_set

_EXTENSIONS = (
    "md|rst|txt|py|pyi|js|jsx|ts|tsx|go|rs|java|kt|c|h|cc|cpp|hpp|cs|rb|php|sh|sql|toml|yaml|yml|json|ini|cfg|conf|env|"
    "lock|html|css|xml|csv|tf|proto|gradle|ipynb|pdf|tpl|mod|sum|log|png|jpg|jpeg|gif|svg|zip|gz|tgz|jar|bat|ps1|lua|swift|scss|vue|dart|adoc"
)
_BARE_FILES = "(?i:Dockerfile|Makefile|README|CODEOWNERS|Jenkinsfile|Procfile|Gemfile)|LICENSE|CHANGELOG"
"""Files that have a name without an ending; those that are no usual words in any case."""
_NOT_REPOSITORIES = word_set("no_repository")
_BRANCH_FOLDERS = word_set("branch_folder")
_BEFORE_PATHS = frozenset(
    {"branch", "ref", "tag", "folder", "directory", "dir", "path", "file", "under", "inside"}
)
_SLASHED = re.compile(r"(?<![\w/.:@-])([A-Za-z0-9][\w-]*)/([\w.-]*\w)(?![\w/-])")
_OF_ANOTHER = re.compile(r"\s+(?:of|in|on|from)\s+(?:the\s+)?[A-Za-z0-9][\w-]*/[\w.-]*\w(?![\w/])")
_REPO_OF = form("repo_of")
_PATH = re.compile(
    rf"(?<![\w/.:@-])((?:[\w.@-]+/)*[\w.@-]*\.(?:{_EXTENSIONS})|(?:[\w.@-]+/)*(?:{_BARE_FILES})|(?:[\w.@-]+/){{2,}}[\w.@-]*)"
    r"(?![\w/-])"
)
_ADDRESS = re.compile(r"https?://[^\s<>\"')]+[^\s<>\"').,;?!]")
QUOTED = re.compile(r"\"([^\"]+)\"|“([^”]+)”|`([^`]+)`|(?<!\w)'([^']+)'(?!\w)")
_NUMBER = form("number")
_NUMBER_WORDS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_ID_DIGITS = 7
"""Digits from which the number of a run is an id."""
_NUMBER_WORD = form("number_word")
_LIMIT = form("limit")
_DURATION = form("duration")
_BRANCH = reader("branch")
_SHA = re.compile(r"(?<![\w-])(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])([0-9a-f]{7,40})(?![\w-])")
_PERSON = reader("person")
_OF_OTHERS = form("of_others")
_ASSIGNEE = reader("assignee")
UNASSIGNED = form("unassigned")
_FOLDER = reader("folder")
_OWNER = reader("owner")
_LABEL = (
    pattern(
        r"\b(?:labell?ed|tagged|labels?)\s+(?:as\s+|with\s+|is\s+)?(?:[\"'`]([^\"'`]+)[\"'`]|(?!of\b|in\b|on\b|for\b)([\w:/-]*\w))"
    ),
    pattern(r"\b(?:with\s+the|the)\s+[\"'`]?([\w:-]+)[\"'`]?\s+label\b"),
)


_LINES = form("lines")


class Number(NamedTuple):
    """A number that names a thing, with the word before it ("pull request", "run", or empty).

    `counted`: it is a place in a count, "run 562" or "number 562", which is shorter than ids are.
    """

    value: int
    noun: str
    counted: bool = False

    @property
    def is_id(self) -> bool:
        """Whether it is as long as ids of runs are."""
        return len(str(self.value)) >= _ID_DIGITS


@lru_cache(maxsize=4096)
def repository(text: str) -> tuple[str, str] | None:
    """Owner and name of the first repository that a sentence names."""
    found = [
        match
        for match in _SLASHED.finditer(text)
        if match[0].lower() not in _NOT_REPOSITORIES and not _is_path(text, match)
    ]
    if found:  # "release/1.9 of octocat/hello-world" names a branch first
        match = next((match for match in found if not _is_branch(text, match)), found[0])
        return match[1], match[2]
    named = _REPO_OF.search(text)
    return (named[2], named[1]) if named else None


def _is_branch(text: str, match: re.Match[str]) -> bool:
    """Whether words with a slash name a branch, or what else a repository that follows them has: "tagline/description of a/b"."""
    if _OF_ANOTHER.match(text, match.end()):
        return True
    before = text[: match.start()].rstrip().rsplit(" ", 1)[-1].lower()
    return before in _BEFORE_PATHS or match[1].lower() in _BRANCH_FOLDERS


def _is_path(text: str, match: re.Match[str]) -> bool:
    extension = match[2].rsplit(".", 1)[-1].lower() if "." in match[2] else ""
    if extension not in _EXTENSIONS.split("|") and not re.fullmatch(_BARE_FILES, match[2]):
        return match[2].endswith(".")
    before = text[: match.start()].rstrip().rsplit(" ", 1)[-1].lower()
    return not (extension in {"js", "go", "rs"} and before in {"of", "for", "repo", "repository"})


def repository_text(text: str) -> str | None:
    """The words of the sentence that name the repository as owner/name."""
    found = repository(text)
    whole = f"{found[0]}/{found[1]}" if found else ""
    return whole if whole and whole in text else None


def path(text: str) -> str | None:
    """The first file or folder that a sentence names."""
    named = repository(text)
    for match in _PATH.finditer(_ADDRESS.sub(" ", text)):
        if match[1] != "/".join(named or ()):
            return match[1]
    return None


def address(text: str) -> str | None:
    """The first web address."""
    match = _ADDRESS.search(text)
    return match[0] if match else None


def repositories(text: str) -> list[tuple[str, str]]:
    """Every repository that a sentence names as owner/name, in order."""
    named = [
        (match[1], match[2])
        for match in _SLASHED.finditer(text)
        if match[0].lower() not in _NOT_REPOSITORIES
        and not _is_path(text, match)
        and not _is_branch(text, match)
    ]
    return list(dict.fromkeys(named))


def quoted(text: str) -> str | None:
    """The first words in quotation marks or backticks."""
    match = QUOTED.search(text)
    return next((group for group in match.groups() if group), None) if match else None


def quotes_hidden(text: str) -> str:
    """A text of the same length in which nothing is read or cut inside of quotation marks."""
    return QUOTED.sub(lambda match: f'"{"x" * (len(match[0]) - 2)}"', text)


def without_quotes(text: str) -> str:
    """A text without what stands in it in quotation marks or backticks."""
    return QUOTED.sub(" ", text)


def numbers(text: str) -> list[Number]:
    """Numbers that name things: not counts ("last 5"), durations or dates."""
    rest = _DURATION.sub(" ", _LIMIT.sub(" ", _ADDRESS.sub(" ", text)))
    return [
        Number(
            int(match[2]),
            noun,
            len(match[2]) < _ID_DIGITS
            and ("#" in match[0] or noun.startswith(("number", "no", "run", "workflow run", "build"))),
        )
        for match in _NUMBER.finditer(rest)
        for noun in [(match[1] or "").lower()]
    ]


def limit(text: str) -> int | None:
    """How many are wanted: 5 in "the last 5 commits" and in "newest five"."""
    match = _LIMIT.search(in_digits(text))
    return int(next(filter(None, match.groups()))) if match else None


def in_digits(text: str) -> str:
    """A text with "two" to "twelve" as digits."""
    return _NUMBER_WORD.sub(lambda match: str(_NUMBER_WORDS.index(match[0].lower()) + 2), text)


def lines(text: str) -> tuple[int, int] | None:
    """The first line that is wanted of a file, and how many: (10, 11) for "lines 10 to 20"."""
    match = _LINES.search(text)
    if not match:
        return None
    first = int(match[1])
    return first, max(int(match[2] or first) - first, 0) + 1


def page(text: str) -> int | None:
    """Which page of a list is wanted."""
    match = re.search(r"\bpage\s+(?:number\s+)?(\d{1,4})\b", text, re.IGNORECASE)
    return int(match[1]) if match else None


def branch(text: str) -> str | None:
    """The branch or version that a sentence names."""
    return _BRANCH.read(text)


def commit(text: str) -> str | None:
    """A commit's hash."""
    match = _SHA.search(text)
    return match[1] if match else None


def person(text: str) -> str | None:
    """Whose work is asked for: "by mona", "@mona", "mona's issues"."""
    found = _PERSON.read(_OF_OTHERS.sub(" ", text))
    return None if found and found.lower() in MONTHS else found


def assignee(text: str) -> str | None:
    """Who has to do it: "assigned to mona"; `none` for what nobody has to do, as GitHub says it."""
    if UNASSIGNED.search(text):
        return "none"
    return _ASSIGNEE.read(text)


def folder(text: str) -> str | None:
    """The folder that a sentence names as one."""
    found = _FOLDER.read(text)
    return None if found == "/".join(repository(text) or ()) else found


def owner(text: str) -> str | None:
    """A user or organisation: from owner/name, else from the words around it."""
    named = repository(text)
    return named[0] if named else _OWNER.read(text)


def labels(text: str) -> list[str]:
    """Names of labels."""
    found = [
        next(group for group in match.groups() if group) for form in _LABEL for match in form.finditer(text)
    ]
    return [label for label in dict.fromkeys(found) if label.lower() not in {"the", "a", "with"}]
