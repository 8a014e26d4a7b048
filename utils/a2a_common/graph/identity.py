"""Checks that an agent class names itself and overrides no reserved name, and makes its default prompt. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple

from utils.a2a_common.graph.tools.agent_tool import AgentTool
from utils.a2a_common.protocol.skill import Skill

REQUIRED = ("name", "description")

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
"""Names that are a folder, a label, a database schema and a host name as they are."""


class AgentClassError(TypeError):
    """An agent class cannot be served as it is defined; the sentence names the class and the attribute."""


class _Kind(NamedTuple):
    """The rule for a class attribute: a check of its value, and its description."""

    fits: Callable[[Any], bool]
    description: str


def _optional(kind: type) -> Callable[[Any], bool]:
    return lambda value: value is None or isinstance(value, kind)


def _several(kind: type) -> Callable[[Any], bool]:
    def fits(value: Any) -> bool:
        listed = isinstance(value, Sequence) and not isinstance(value, str)
        return listed and all(isinstance(one, kind) for one in value)

    return fits


_several_skills = _several(Skill)
ATTRIBUTES: Mapping[str, _Kind] = {
    "name": _Kind(lambda value: isinstance(value, str), "a text"),
    "description": _Kind(lambda value: isinstance(value, str), "a text"),
    "skills": _Kind(
        lambda value: isinstance(value, property | cached_property) or _several_skills(value),
        "a tuple of `Skill`",
    ),
    "version": _Kind(_optional(str), "a text or None"),
    "input_modes": _Kind(_several(str), "a tuple of media types"),
    "output_modes": _Kind(_several(str), "a tuple of media types"),
    "answers_with_message": _Kind(lambda value: isinstance(value, bool), "True or False"),
    "shown_examples": _Kind(lambda value: isinstance(value, int), "a number"),
    "summary_prompt": _Kind(_optional(str), "a text or None"),
    "state_schema": _Kind(_optional(type), "a class or None"),
    "answer_schema": _Kind(_optional(type), "a class or None"),
    "own_tables": _Kind(_optional(Path), "a `Path` or None"),
}
"""The class attributes of `BaseLangGraphAgent`."""


def check_class(agent_class: type, base: type) -> None:
    """Refuse an agent class that cannot be served, at its definition.

    A method or tool of the name of a class attribute would otherwise fail much later, in whatever reads the
    attribute; a tool of the name of a hook would be called by the base class in place of the hook.

    Args:
        agent_class: The class, with what it inherits.
        base: The class whose attributes and methods are reserved.

    Raises:
        AgentClassError: A required text is missing, the name has other characters than a name may have, an attribute is of
            another type, or a tool or value takes the place of a method.
    """
    for attribute in REQUIRED:
        given = getattr(agent_class, attribute, "")
        if not given or (isinstance(given, str) and not given.strip()):
            raise AgentClassError(
                f"{agent_class.__name__} needs a {attribute}: set the class attribute `{attribute}` to a text. "
                "A class that is only inherited from names ABC among its bases."
            )
    for attribute, kind in ATTRIBUTES.items():
        found = getattr(agent_class, attribute)
        if not kind.fits(found):
            raise AgentClassError(
                f"{agent_class.__name__}.{attribute} is {_called(found)}, but `{attribute}` is a class attribute of "
                f"every agent and must be {kind.description}.{_advice(found)}"
            )
    if not _NAME.fullmatch(agent_class.name):  # type: ignore[attr-defined]
        raise AgentClassError(
            f"{agent_class.__name__}.name is {agent_class.name!r}, but a name has lower-case letters, digits and "  # type: ignore[attr-defined]
            "single hyphens between them, and nothing else."
        )
    below = agent_class.__mro__[: agent_class.__mro__.index(base)]
    for at, cls in enumerate(below):
        for name, value in vars(cls).items():
            _check_method(agent_class, name, value, agent_class.__mro__[at + 1 :])


def _check_method(agent_class: type, name: str, value: Any, bases: Sequence[type]) -> None:
    """Refuse a tool in the place of a method or property of one of the bases, and a mere value in that of a method."""
    is_tool = isinstance(value, AgentTool)
    refused = FunctionType | property | cached_property if is_tool else FunctionType
    if not is_tool and (callable(value) or hasattr(value, "__get__")):
        return
    for base in bases:
        if isinstance(vars(base).get(name), refused):
            raise AgentClassError(
                f"{agent_class.__name__}.{name} is {_called(value)}, but `{name}` is a method of "
                f"{base.__name__}.{_advice(value)}"
            )


def _called(value: Any) -> str:
    if isinstance(value, AgentTool):
        return "a tool"
    return (
        "a method" if callable(value) and not isinstance(value, type) else f"of type {type(value).__name__}"
    )


def _advice(value: Any) -> str:
    return " Give the tool another name." if isinstance(value, AgentTool) else ""


def default_prompt(name: str, description: str) -> str:
    """The default instruction of an agent: its name and purpose, and that it must not guess."""
    return (
        f"You are the agent {name}. {description.strip()}\n"
        "Do what the user asks within that. Use your tools where they help, and answer from what they return. "
        "Where you do not know something or cannot do it, say so plainly; never invent facts."
    )
