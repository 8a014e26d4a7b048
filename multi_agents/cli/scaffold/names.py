"""The name of a new agent, in each spelling that its files need. Pure."""

from __future__ import annotations

import keyword
import re
from dataclasses import dataclass

from multi_agents.cli.errors import UsageError

_NAME = re.compile(r"[a-z](?:[a-z0-9]|[-_](?=[a-z0-9])){0,31}")
RESERVED = frozenset({"supervisor", "platform-engineer", "template", "recall", "logs"})
"""The supervisor, its data folder, the template agent, a tool of every agent, and the folder of logs."""

RULE = (
    "use up to 32 lower-case letters, digits and single hyphens, beginning with a letter and ending with none"
)


@dataclass(frozen=True, slots=True)
class AgentName:
    """A validated name.

    Attributes:
        text: The name in the supervisor, compose and the chart, with hyphens.
        package: The Python package under `agents`, and the prefix of its settings in lower case.
    """

    text: str

    @property
    def package(self) -> str:
        """A Python identifier."""
        return self.text.replace("-", "_")

    @property
    def camel(self) -> str:
        """The prefix of its class names."""
        return "".join(part.capitalize() for part in self.text.split("-"))

    @property
    def variable(self) -> str:
        """The prefix of its environment variables."""
        return self.package.upper()


def checked_name(given: str) -> AgentName:
    """Validate the name of a new agent; `_` becomes `-`, which charts and host names allow.

    Raises:
        UsageError: It is invalid, reserved, or a Python keyword.
    """
    if not _NAME.fullmatch(given):
        shown = repr(given) if given.isprintable() and len(given) <= 40 else "That"  # noqa: PLR2004
        raise UsageError(f"{shown} is not a valid name for an agent: {RULE}.")
    name = AgentName(given.replace("_", "-"))
    if name.text in RESERVED:
        raise UsageError(f"The name {name.text!r} is taken by the service itself. Choose another one.")
    if keyword.iskeyword(name.package):
        raise UsageError(
            f"{name.text!r} is a Python keyword, so no module can have that name. Choose another one."
        )
    return name
