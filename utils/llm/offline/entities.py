"""What a sentence names: repositories, numbers, branches, files, people, labels, quoted words.

Each reader takes a sentence and gives what it finds or nothing; it never guesses.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from utils.llm.offline.grammar import MONTH, MONTHS, pattern, reader, word_set

_EXTENSIONS = (
    "md|rst|txt|py|pyi|js|jsx|ts|tsx|go|rs|java|kt|c|h|cc|cpp|hpp|cs|rb|php|sh|sql|toml|yaml|yml|json|ini|cfg|conf|env|"
    "lock|html|css|xml|csv|tf|proto|gradle|ipynb|pdf|tpl|mod|sum"
)
_BARE_FILES = "(?i:Dockerfile|Makefile|README|CODEOWNERS|Jenkinsfile|Procfile|Gemfile)|LICENSE|CHANGELOG"
"""Files that have a name without an ending; those that are no usual words in any case."""
_NOT_REPOSITORIES = word_set("""and/or either/or yes/no input/output i/o client/server read/write tcp/ip ci/cd n/a on/off true/false
    request/response start/stop""")
_BRANCH_FOLDERS = word_set("release releases feature feat fix bugfix hotfix chore refs heads tags origin")
_BEFORE_PATHS = frozenset(
    {"branch", "ref", "tag", "folder", "directory", "dir", "path", "file", "under", "inside"}
)
_SLASHED = re.compile(r"(?<![\w/.:@-])([A-Za-z0-9][\w-]*)/([\w.-]*\w)(?![\w/-])")
_REPO_OF = pattern(
    r"\b(?:repo|repository|project)\s+([\w.-]*\w)\s+(?:of|by|from|owned by)\s+(?:the\s+)?@?([\w-]+)"
)
_PATH = re.compile(
    rf"(?<![\w/.:@-])((?:[\w.@-]+/)*[\w.@-]*\.(?:{_EXTENSIONS})|(?:[\w.@-]+/)*(?:{_BARE_FILES})|(?:[\w.@-]+/){{2,}}[\w.@-]*)"
    r"(?![\w/-])"
)
_ADDRESS = re.compile(r"https?://[^\s<>\"')]+[^\s<>\"').,;?!]")
QUOTED = re.compile(r"\"([^\"]+)\"|“([^”]+)”|`([^`]+)`|(?<!\w)'([^']+)'(?!\w)")
_NUMBER = pattern(
    r"(?:\b(pull requests?|pull|prs?|issues?|tickets?|workflow runs?|runs?|jobs?|builds?|number|no\.?|id)\s*)?"
    r"(?:#|(?<![\w./-]))(\d+)(?![\w/-]|\.\d)"
)
_NUMBER_WORDS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_NUMBER_WORD = pattern(
    rf"\b(?:{'|'.join(_NUMBER_WORDS)})\b(?!\s+(?:of them|repos|repositories|things|questions))"
)
_LIMIT = pattern(
    r"\b(?:last|latest|newest|top|first|recent|most recent|oldest|only|just|max(?:imum)?|at most|up to|limit(?:ed)? to|show|give me|list|find|get|fetch|no more than)"
    r"\s+(?:me\s+)?(?:the\s+)?(?:last\s+|latest\s+|first\s+|top\s+)?(\d{1,3})\b(?!\.\d|\s*(?:hours?|days?|weeks?|months?|years?)\b)"
    r"|(?<![#\w.-])(\d{1,3})\s+(?:latest|newest|oldest|most recent|last|recent|at (?:the )?most|or fewer|max(?:imum)?)\b"
    r"|(?<![#\w.-])(\d{1,3})\s+(?:are|is|will|would)\s+(?:be\s+)?(?:plenty|enough|fine|ok|okay|do|suffice)\b"
    r"|(?<![#\w.-])(?<!than )(?<!least )(\d{1,3})\s+(?:(?:open|closed|merged|draft|failed|latest|newest|oldest|recent)\s+){0,2}(?:issues|pull requests|prs|commits|releases|branches|runs|tickets|builds)\b"
)
_DURATION = pattern(
    r"\b(?:more|fewer|less|longer) than \d+\b|\bat least \d+\b|\b\d+\s*(?:hours?|days?|weeks?|months?|years?)\b|\d{4}-\d{2}-\d{2}\S*"
    rf"|\b\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?(?:{MONTH})(?:,?\s+\d{{4}})?\b|\b(?:{MONTH})\s+(?:\d{{1,2}}(?:st|nd|rd|th)?(?:,?\s+\d{{4}})?|\d{{4}})\b"
    r"|\b(?:in|since|from|during|until|before|after)\s+(?:19|20)\d\d\b"
)
_BRANCH_WORD = r"(main|master|develop|development|dev|trunk|staging|production|release[-/][\w./-]*\w|feature/[\w./-]*\w|v?\d+\.\d[\w.]*|gh-pages|next)"
_BRANCH = reader(
    "and or the a an this that which what default each every any main's of on new same",
    r"\b(?:branch|ref|tag|version|revision)\s+(?!of\b|in\b|is\b)[`'\"]?([\w./-]*\w)",
    r"\b([\w./-]*\w)\s+branch\b",
    rf"\b(?:on|against|target(?:s|ing)?|into|onto|from|of|to|in|for)\s+(?:the\s+)?[`'\"]?{_BRANCH_WORD}(?![\w/-])",
    r"\bmerged?\s+(?:into|to)\s+[`'\"]?([\w.-]*\w)(?![\w/])",
)
_SHA = re.compile(r"(?<![\w-])(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])([0-9a-f]{7,40})(?![\w-])")
_PERSON = reader(
    """more fewer less most many no any all some of in on or and is was for the a an user date name mistake accident chance default hand now then far anyone anybody someone somebody everyone
    everybody nobody me us him her them you it i we they he she who whom whose which what that this these those any there been not
    last past previous recent today yesterday tomorrow monday tuesday wednesday thursday friday saturday sunday main master branch
    week month year day github bot bots one team people""",
    r"(?<![\w.])@([A-Za-z0-9][\w-]*)",
    r"\b(?:by|author|from user|user)\s+([A-Za-z0-9][\w-]*)(?![\w/-])",
    r"\b(?:issues|tickets|bugs|pull requests|prs|commits)\s+(?:\w+\s+)?from\s+@?([A-Za-z0-9][\w-]*)(?![\w/-])",
    r"(?<![\w/.-])@?([A-Za-z0-9][\w-]*)['\u2019]s?\s+(?:\w+\s+){0,2}(?:issues|tickets|pull requests|prs|commits)\b",
    r"\b(?:did|has|have)\s+@?([A-Za-z0-9][\w-]*)\s+(?:open|opened|write|written|create|created|report|reported|file|filed|raise|raised|author|authored|commit|committed|push|pushed|submit|submitted|change|changed)\b(?!\s+(?:issues|pull|prs|tickets|bugs)\b)",
    r"\b(?!(?:who|that|which|what|has|have|was|were|been|be|is|are|got|i|you|we|they|it|and|or|anyone|anybody|someone|somebody|everybody|everyone|nobody|lately|recently|just|not|issues?|tickets?|bugs?|prs?|requests?|commits?|newly)\b)"
    r"(?<![\w/.-])([A-Za-z0-9][\w-]*)\s+(?:has\s+|have\s+)?(?:committed|pushed|authored|filed|reported|raised|opened|wrote|submitted|created)\b",
)
_OF_OTHERS = pattern(
    r"\b(?:assigned to|review(?:s|ed)?(?: requested)? (?:by|from)|(?:approved|merged|closed|commented on|sort(?:ed)?|order(?:ed)?|rank(?:ed)?|group(?:ed)?) by)"
    r"\s+@?[\w-]+"
)
"""Names of people who are no authors, and of columns."""
_ASSIGNEE = reader(
    "the a an any all some which what who whom it its them this that these those each every our my open closed issues issue tickets bugs",
    r"\bassigned to\s+@?([A-Za-z0-9][\w-]*)",
)
UNASSIGNED = pattern(
    r"\bunassigned\b|\b(?:no|without(?: an?)?) assignees?\b|\b(?:nobody|no ?one)(?: is|'s)? (?:assigned|working|works|looks|looking|took|has taken)(?: to| on| at| after| it)*\b"
    r"|\b(?:not|aren't|isn't) assigned(?: to (?:anyone|anybody))?\b|\bassigned to (?:nobody|no ?one)\b"
)
_FOLDER = reader(
    "the a an this that which what root top each every any whole of same",
    r"\b(?:folder|directory|dir)\s+[`'\"]?(?!of\b|in\b|on\b|structure\b|tree\b|listing\b)([\w./-]*\w)",
    r"\b([\w./-]*\w)\s+(?:folder|directory)\b",
)
_OWNER = reader(
    "the this that you they we i it github user org organisation organization my your his her which what",
    r"\b(?:user|org|organi[sz]ation|owner|account)\s+(?!(?:have|has|had|own|owns|of|got|get|on|in|and|or|with|that|which|please)\b)@?([A-Za-z0-9][\w-]*)(?![\w/])",
    r"\b(?:does|do|did|has|have|is)\s+(?:the\s+)?@?([A-Za-z0-9][\w-]*)(?:\s+(?:org|organi[sz]ation|user|account|team))?\s+(?:have|own|maintain|publish|host|got)\b",
    r"(?<![\w/])@?([A-Za-z0-9][\w-]*)['\u2019]s?\s+(?:public\s+)?(?:repos|repositories|projects)\b",
    r"\b(?:repos|repositories|projects)\s+(?:of|by|from|owned by|belonging to|under|for|in|at)\s+(?:the\s+)?(?:github\s+)?(?:user\s+|org(?:ani[sz]ation)?\s+)?@?([A-Za-z0-9][\w-]*)(?![\w/])(?!\s+(?!on\b|please\b|that\b|with\b|which\b|sorted\b|and\b|org|team\b|user\b|account\b)[a-z])",
    r"\bthe\s+([A-Za-z0-9][\w-]*)\s+(?:org|organi[sz]ation)\b",
)
_LABEL = (
    pattern(
        r"\b(?:labell?ed|tagged|labels?)\s+(?:as\s+|with\s+|is\s+)?(?:[\"'`]([^\"'`]+)[\"'`]|(?!of\b|in\b|on\b|for\b)([\w:/-]*\w))"
    ),
    pattern(r"\b(?:with\s+the|the)\s+[\"'`]?([\w:-]+)[\"'`]?\s+label\b"),
)


_LINES = pattern(
    r"\blines?\s+(\d{1,6})(?:\s*(?:-|\u2013|to|till|until|through|and)\s*(?:line\s+)?(\d{1,6}))?\b"
)


class Number(NamedTuple):
    """A number that names a thing, with the word before it ("pull request", "run", or empty)."""

    value: int
    noun: str


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


def without_quotes(text: str) -> str:
    """A text without what stands in it in quotation marks or backticks."""
    return QUOTED.sub(" ", text)


def numbers(text: str) -> list[Number]:
    """Numbers that name things: not counts ("last 5"), durations or dates."""
    rest = _DURATION.sub(" ", _LIMIT.sub(" ", _ADDRESS.sub(" ", text)))
    return [Number(int(match[2]), (match[1] or "").lower()) for match in _NUMBER.finditer(rest)]


def limit(text: str) -> int | None:
    """How many are wanted: 5 in "the last 5 commits" and in "newest five"."""
    match = _LIMIT.search(_in_digits(text))
    return int(next(filter(None, match.groups()))) if match else None


def _in_digits(text: str) -> str:
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
