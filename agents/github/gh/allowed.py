"""Allowlist of `gh` commands, each with the exact form of its arguments. Pure.

Everything else is refused. An allowed command is rebuilt from its parsed parts, so the model's text never reaches
`gh` unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from utils.errors import UpstreamRefused

_NUMBER = "[0-9]{1,19}"
_LIMIT = "[1-9][0-9]?|1[0-9][0-9]|200"
_NAME = r"(?!.*\.\.)[A-Za-z0-9_][A-Za-z0-9._/-]{0,99}"
_TITLE = r"(?!.*\.\.)[A-Za-z0-9_][A-Za-z0-9 ._:/-]{0,99}"
_USER = "@me|[A-Za-z0-9][A-Za-z0-9-]{0,38}"
_FIELDS = "[A-Za-z]{1,40}(,[A-Za-z]{1,40}){0,29}"
_COMMIT = "[0-9a-f]{7,40}"
_STATES = "open|closed|all"
_RUN_STATES = (
    "queued|completed|in_progress|requested|waiting|pending|action_required|cancelled|failure|neutral|skipped|"
    "stale|startup_failure|success|timed_out"
)
_MOST_ARGUMENTS = 16
_LONGEST_ARGUMENT = 200

_LIST = {"--limit": _LIMIT, "--json": _FIELDS}
_PEOPLE = {"--author": _USER, "--assignee": _USER, "--label": _TITLE}


@dataclass(frozen=True, slots=True)
class Form:
    """The arguments that one command takes.

    Attributes:
        operand: Pattern of the only operand; `None` if it takes none.
        values: Patterns of the options that take a value.
        switches: The options that take none.
    """

    operand: str | None = None
    values: Mapping[str, str] = field(default_factory=dict)
    switches: frozenset[str] = frozenset()


ALLOWED: Mapping[tuple[str, str], Form] = {
    ("run", "list"): Form(
        values=_LIST
        | {"--branch": _NAME, "--status": _RUN_STATES, "--workflow": _TITLE, "--event": _NAME}
        | {"--user": _USER, "--commit": _COMMIT}
    ),
    ("run", "view"): Form(
        _NUMBER,
        {"--job": _NUMBER, "--attempt": "[0-9]{1,3}", "--json": _FIELDS},
        frozenset({"--log-failed", "--log", "--verbose"}),
    ),
    ("pr", "list"): Form(
        values=_LIST | _PEOPLE | {"--state": f"{_STATES}|merged", "--base": _NAME, "--head": _NAME},
        switches=frozenset({"--draft"}),
    ),
    ("pr", "view"): Form(_NUMBER, {"--json": _FIELDS}, frozenset({"--comments"})),
    ("pr", "diff"): Form(_NUMBER, switches=frozenset({"--name-only", "--patch"})),
    ("pr", "checks"): Form(_NUMBER, {"--json": _FIELDS}, frozenset({"--required"})),
    ("issue", "list"): Form(values=_LIST | _PEOPLE | {"--state": _STATES}),
    ("issue", "view"): Form(_NUMBER, {"--json": _FIELDS}, frozenset({"--comments"})),
    ("release", "list"): Form(values=_LIST),
    ("release", "view"): Form(_NAME, {"--json": _FIELDS}),
    ("workflow", "list"): Form(values=_LIST, switches=frozenset({"--all"})),
}
"""Forms by the two words after `gh`. The repository is not an argument: it is added to each command."""


def parse(arguments: Sequence[str]) -> list[str]:
    """Parse a command and return the arguments for `gh`.

    Raises:
        UpstreamRefused: The command or one of its arguments is not allowed; the message lists those that are.
    """
    given = list(arguments[1:] if arguments and arguments[0] == "gh" else arguments)
    if len(given) > _MOST_ARGUMENTS or not all(map(_is_plain, given)):
        raise _refused(
            "its arguments are too many, too long or hold characters that no allowed command needs"
        )
    form = ALLOWED.get((given[0], given[1])) if len(given) > 1 else None
    if form is None:
        commands = ", ".join(" ".join(words) for words in ALLOWED)
        raise _refused(f"only these commands may run: {commands}")
    options, operands = _split(given[2:], form)
    if len(operands) != (0 if form.operand is None else 1):
        raise _refused(f"{given[0]} {given[1]} takes {'one operand' if form.operand else 'options only'}")
    return [*given[:2], *options, *operands]


def _split(given: Sequence[str], form: Form) -> tuple[list[str], list[str]]:
    """Options, each joined with its value, and operands."""
    options: dict[str, str] = {}
    operands: list[str] = []
    rest = list(given)
    while rest:
        argument = rest.pop(0)
        name, sign, value = argument.partition("=")
        if name in options:
            raise _refused(f"{name} is given twice")
        if argument in form.switches:
            options[argument] = argument
        elif name in form.values:
            value = value if sign else (rest.pop(0) if rest else "")
            _match(form.values[name], value, name)
            options[name] = f"{name}={value}"
        elif form.operand is not None and not argument.startswith("-"):
            _match(form.operand, argument, "the operand")
            operands.append(argument)
        else:
            known = ", ".join(sorted({*form.values, *form.switches})) or "none"
            raise _refused(f"an argument is not among those that this command may have: {known}")
    return list(options.values()), operands


def _match(pattern: str, value: str, name: str) -> None:
    if not re.fullmatch(pattern, value):
        raise _refused(f"the value of {name} does not have the form that is allowed there")


def _is_plain(argument: str) -> bool:
    """Whether it is printable ASCII of limited length: no line ends, control characters or look-alikes."""
    return 0 < len(argument) <= _LONGEST_ARGUMENT and argument.isascii() and argument.isprintable()


def _refused(why: str) -> UpstreamRefused:
    return UpstreamRefused(f"gh was not run: {why}.")
