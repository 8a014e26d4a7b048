"""Which values settings accept, as patterns and bounds, for programs that cannot run the settings classes. Pure.

The Helm chart validates its values with them before it creates a pod. They are derived from the fields, and by trying values where a
validator runs before the type check, so they cannot differ from the code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from typing import Any

from pydantic.fields import FieldInfo

from utils.environment import EnvSettings
from utils.setting_values import choices
from utils.settings_docs import fields_of, kind_of, members_of, parts_of

Rule = dict[str, Any]
"""What one setting accepts: `name`, `of` (the agent that has it, if not all do), and for values that can be checked `must` (in words),
`form` (a key of `FORMS`) or `matches` (a pattern), `only` (a pattern of the values that are checked at all) and the bounds
`ge`, `gt`, `le`, `lt`."""

_DIGITS = "[0-9](_?[0-9])*"
_POWER = "(_?[eE](_?[+-])?(_?[0-9])+)?"
FORMS: dict[type, tuple[str, str]] = {
    bool: ("switch", "^(?i:true|t|yes|y|on|1|false|f|no|n|off|0)$"),
    int: ("whole number", rf"^[+-]?{_DIGITS}(\.0+)?$"),
    float: (
        "number",
        rf"^([+-]_?)?({_DIGITS}(_?\.(_?[0-9])*)?{_POWER}|\.(_?[0-9])+{_POWER}|(?i:inf|infinity))$",
    ),
}
"""How pydantic parses these types from text; the patterns work in Python and in Go."""

_BOUNDS = ("ge", "gt", "le", "lt")
_NO_VALUE = "no value of any type"
_POSITIVE = "^0*[1-9][0-9]*$"


def rules_of(groups: Iterable[type[EnvSettings]], agent: str = "") -> list[Rule]:
    """What the settings accept that these groups declare themselves, in order.

    Args:
        groups: The groups.
        agent: The agent that they belong to; empty for those of every process.
    """
    owner = {"of": agent} if agent else {}
    return [
        {"name": field.alias, **owner, **_rule(group, field)}
        for group in groups
        for field in fields_of(group)
    ]


def _rule(group: type[EnvSettings], field: FieldInfo) -> Rule:
    parts = parts_of(field.annotation)
    if len(parts) != 1:
        return {}
    (part,) = parts
    if members := members_of(part):
        return _of_words(group, field, members)
    if part in FORMS:
        return _of_form(group, field, part)
    return next(map(_of_pattern, _patterns(field)), {})


def _of_words(group: type[EnvSettings], field: FieldInfo, members: Sequence[Enum]) -> Rule:
    """Each accepted word; `true` and `false` because YAML parses `on` and `off` as such."""
    words = [str(member.value) for member in members]
    taken = [word for word in (*words, "true", "false") if _takes(group, field, word)]
    in_any_case = {word for word in taken if _takes(group, field, word.swapcase())}
    each = (f"(?i:{re.escape(word)})" if word in in_any_case else re.escape(word) for word in taken)
    return {"must": choices(words), "matches": f"^({'|'.join(each)})$"}


def _of_form(group: type[EnvSettings], field: FieldInfo, part: type) -> Rule:
    """A number or a switch. If a group ignores invalid values, only numbers are checked."""
    lenient = _takes(group, field, _NO_VALUE)
    bounds = {
        name: value
        for rule in field.metadata
        for name in _BOUNDS
        if (value := getattr(rule, name, None)) is not None
    }
    if lenient and not bounds:
        return {}
    only = {"only": _POSITIVE} if lenient else {}
    article = "" if part is bool else "a "
    return {"must": article + kind_of(field), "form": FORMS[part][0], **only, **bounds}


def _patterns(field: FieldInfo) -> Iterator[str]:
    return (rule.pattern for rule in field.metadata if getattr(rule, "pattern", None))


def _of_pattern(pattern: str) -> Rule:
    """A string with a pattern; a pattern of alternative words is a choice."""
    words = re.fullmatch(r"\^\(([\w|-]+)\)\$", pattern)
    must = choices(words[1].split("|")) if words else f"a text that matches {pattern}"
    return {"must": must, "matches": pattern.replace(r"\w", r"\pL\pM\pN_")}  # Go's \w matches ASCII only


def _takes(group: type[EnvSettings], field: FieldInfo, text: str) -> bool:
    problems = group.problems({field.alias or "": text})
    return all(problem.variable != field.alias for problem in problems)
