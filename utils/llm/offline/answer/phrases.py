"""What the model says for itself: short, plain, and only what is true of the tools it has."""

from __future__ import annotations

from collections.abc import Sequence

from utils.llm.offline.smalltalk import Talk
from utils.llm.offline.tools import ToolSpec

SHOWN = 8
"""Abilities that are listed at most."""
SHOWN_EXCERPT = 200
"""Characters that are quoted at most of what was searched for in place of a long request."""
_NAMES = {
    "number": "the number",
    "run_id": "the id of the workflow run",
    "job_id": "the id of the job",
    "path": "the path of the file",
    "query": "what to search for",
    "source": "which document",
    "owner": "the user or organisation",
}


def talk(kind: Talk, tools: Sequence[ToolSpec]) -> str:
    """An answer to small talk."""
    if kind is Talk.THANKS:
        return "You're welcome. Ask me anything else when you need it."
    if kind is Talk.BYE:
        return "Goodbye."
    opening = "Hello." if kind is Talk.GREETING else "I answer from what my tools return."
    return f"{opening} {abilities(tools)}"


def outside(tools: Sequence[ToolSpec]) -> str:
    """An answer to what no tool can do."""
    return f"I cannot help with that. {abilities(tools)}"


def abilities(tools: Sequence[ToolSpec]) -> str:
    """What the bound tools do, each with an example where it has one."""
    described = [tool for tool in tools if tool.examples] or list(tools)
    if not described:
        return "I have no tools here, and without them I know nothing."
    lines = [_ability(tool) for tool in described[:SHOWN]]
    more = len(described) - SHOWN
    return "\n".join(["Here is what I can do:", "", *lines, *([f"- … and {more} more."] if more > 0 else [])])


def question(missing: Sequence[str]) -> str:
    """One plain question for the arguments that a tool still needs."""
    names = set(missing)
    if names & {"repo", "repository"}:
        also = [_named(name) for name in missing if name not in {"repo", "repository", "owner"}]
        rest = f" and {' and '.join(also)}" if also else ""
        return f"Which repository do you mean{rest}? Please name it as owner/repository."
    if names == {"owner"}:
        return "Which user or organisation do you mean?"
    if len(names) == 1 and missing[0] in {"query", "q", "question"}:
        return "What should I search for?"
    return f"Please tell me {' and '.join(_named(name) for name in missing)}: which one do you mean?"


def searched_for(excerpt: str) -> str:
    """That only a part of the request was searched for."""
    shown = excerpt if len(excerpt) <= SHOWN_EXCERPT else f"{excerpt[:SHOWN_EXCERPT].rstrip()} …"
    return f"The request is too long to be searched for as a whole. I searched for this part of it: “{shown}”"


def _ability(tool: ToolSpec) -> str:
    description = tool.description.strip().split("\n")[0].rstrip(".")
    example = f" For example: “{tool.examples[0]}”" if tool.examples else ""
    return f"- **{tool.name.replace('_', ' ')}**: {description}.{example}"


def _named(name: str) -> str:
    return _NAMES.get(name, f"the {name.replace('_', ' ')}")
