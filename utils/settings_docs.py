"""Settings as documents: a table and an `.env` example, made from the groups themselves. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from types import ModuleType, NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from utils.settings import EnvSettings

_KINDS: dict[Any, str] = {
    bool: "true or false",
    int: "whole number",
    float: "number",
    str: "text",
    Path: "path",
    SecretStr: "secret",
}

COMPOSE = {
    "IMAGE": ("platform-engineer:latest", "The image that every container runs"),
    "SUPERVISOR_PORT": ("8000", "Port of this machine that leads to the supervisor"),
    "SUPERVISOR_BIND": (
        "127.0.0.1",
        "Address of this machine that it listens at; 0.0.0.0 lets other machines in: set AUTH_MODE before",
    ),
    "DATABASE_PASSWORD": (
        "engineer",
        "Password of the database of the profile `scale`, of letters, digits and -._~; set it before the first start",
    ),
    "DOCUMENTS": ("./docs", "Folder whose documents are ingested at start"),
    "FOREIGN_AGENTS": (
        "",
        "Agents that run elsewhere, besides those of the file: name=url pairs separated by commas",
    ),
    "FOREIGN_AGENTS_SHARES": (
        "",
        "What these get besides their sub-task: name=nothing, request or results, with commas",
    ),
    "FOREIGN_AGENTS_EXCHANGE": (
        "",
        "Which of these get a token of the user, exchanged at the provider: name=audience scope, with commas",
    ),
}
"""What docker-compose.yaml reads besides the settings: variable, default and meaning."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One variable, as documented. `default` is empty if it is unset by default."""

    variable: str
    kind: str
    default: str
    meaning: str

    @property
    def secret(self) -> bool:
        """Whether its value is secret."""
        return self.kind == _KINDS[SecretStr]


def groups_of(module: ModuleType) -> list[type[EnvSettings]]:
    """The groups that a module defines, in its order; those without a field of their own are left out."""
    found = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, EnvSettings) and value.__module__ == module.__name__
    ]
    return [group for group in found if settings_of(group)]


def settings_of(group: type[EnvSettings]) -> list[Setting]:
    """The settings that a group declares itself; inherited ones are listed with the group they come from.

    A field without a variable is computed by the group, so it is no setting.
    """
    return [_setting(field) for field in fields_of(group)]


def fields_of(group: type[EnvSettings]) -> list[FieldInfo]:
    """The fields of these settings."""
    own = vars(group).get("__annotations__", {})
    return [field for name, field in group.model_fields.items() if name in own and field.alias]


def markdown_of(groups: Sequence[type[EnvSettings]]) -> str:
    """One section with a table for each group."""
    return "\n".join(line for group in groups for line in _section(group)).rstrip() + "\n"


def env_example_of(groups: Sequence[type[EnvSettings]]) -> str:
    """Every variable as a comment with its default, so that a copy of it changes nothing."""
    lines: list[str] = []
    for group in groups:
        lines += [f"# --- {_title(group)}", ""]
        for one in settings_of(group):
            lines += [f"# {_sentence(one)}", f"# {one.variable}={one.default}", ""]
    return "\n".join(lines)


def _section(group: type[EnvSettings]) -> Iterator[str]:
    yield f"## {_title(group)}"
    yield ""
    yield "| variable | value | default | meaning |"
    yield "|---|---|---|---|"
    for one in settings_of(group):
        default = f"`{one.default}`" if one.default else "unset"
        yield f"| `{one.variable}` | {_cell(one.kind)} | {_cell(default)} | {_cell(one.meaning)} |"
    yield ""


def _title(group: type[EnvSettings]) -> str:
    line = (group.__doc__ or group.__name__).strip().splitlines()[0]
    return line.rstrip(".")


def _sentence(setting: Setting) -> str:
    return f"{setting.meaning.rstrip('.')} ({setting.kind})."


def _setting(field: FieldInfo) -> Setting:
    return Setting(
        variable=field.alias or "",
        kind=kind_of(field),
        default=_default(field.default),
        meaning=_meaning(field),
    )


def _meaning(field: FieldInfo) -> str:
    """The description, with the values of a choice if it does not name them."""
    description = field.description or ""
    values = [str(member.value) for part in parts_of(field.annotation) for member in members_of(part)]
    if all(value in description for value in values):
        return description
    return f"{description} One of: {', '.join(values)}."


def parts_of(annotation: Any) -> list[Any]:
    """The types that a union allows besides `None`; for any other type, that type."""
    if get_origin(annotation) in {Union, UnionType}:
        return [part for part in get_args(annotation) if part is not NoneType]
    return [annotation]


def members_of(annotation: Any) -> list[Enum]:
    """The values of a choice; none of another type."""
    return list(annotation) if isinstance(annotation, type) and issubclass(annotation, Enum) else []


def kind_of(field: FieldInfo) -> str:
    """The type of the setting's value, in words, with its bounds."""
    return _type(field.annotation) + _limits(field)


def _type(annotation: Any) -> str:
    kinds = ("choice" if members_of(part) else _KINDS.get(part, "text") for part in parts_of(annotation))
    return " or ".join(kinds)


def _limits(field: FieldInfo) -> str:
    signs = (("ge", "at least"), ("gt", "above"), ("le", "at most"), ("lt", "below"))
    limits = [
        f"{words} {getattr(rule, name):g}"
        for rule in field.metadata
        for name, words in signs
        if getattr(rule, name, None) is not None
    ]
    return "".join(f", {limit}" for limit in limits)


def _default(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value.value if isinstance(value, Enum) else value)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
