"""The files of a new agent: copies of the template agent's under another name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from multi_agents.cli.errors import CliError
from multi_agents.cli.scaffold.names import AgentName

CODE, TESTS = Path("agents"), Path("tests/unit/agents")
_SOURCE = "template"
_WORD = re.compile(
    r"(?P<package>(?<=agents[./])template|template(?=_)|(?<=_)template)|Template|TEMPLATE|template"
)


def agent_files(root: Path, name: AgentName) -> Mapping[Path, str]:
    """The text of each file of the agent's folder and its tests, by path.

    Args:
        root: The checkout.
        name: The new name.

    Raises:
        CliError: The template agent is missing.
    """
    found = {new: _renamed(text, name) for new, text in _template(root, name)}
    if root / CODE / name.package / "agent.py" not in found:
        raise CliError("The template agent is missing: agents/template is what a new agent is copied from.")
    return found


def _template(root: Path, name: AgentName) -> Iterator[tuple[Path, str]]:
    for folder in (CODE, TESTS):
        source = root / folder / _SOURCE
        for path in sorted(source.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                text = path.read_bytes().decode().replace("\r\n", "\n")
                yield root / folder / name.package / path.relative_to(source), text


def _renamed(text: str, name: AgentName) -> str:
    return _WORD.sub(lambda match: _spelling(match, name), text)


def _spelling(match: re.Match[str], name: AgentName) -> str:
    if match["package"]:
        return name.package
    return {"Template": name.camel, "TEMPLATE": name.variable}.get(match[0], name.text)
