"""What the model says for itself: short, plain, and only what is true of the tools it has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from utils.llm.offline.smalltalk import Talk
from utils.llm.offline.tools import ToolSpec

SHOWN = 8
"""Abilities that are listed at most."""
TRIED = 3
"""Requests that are proposed."""
ENGLISH_ONLY = (
    "I understand English only. Ask in English, or set a language model, which understands other languages "
    "(docs/offline-model.md)."
)
CAME_ALONG = "I did not read the attached files or data. The offline model reads only the text of a message."
NO_WORDS = "Write in words what you want to know: the offline model does not read attached files or data. A language model does (docs/offline-model.md)."
MORE_ALONE = "Ask for this list alone to see more of it."
NOT_DONE = "Not done: “{}”. {}"
"""A part of the request that nothing was done for, and why."""
SEARCHED_FOR = "The request is too long to be searched for as a whole. I searched for this part of it: “{}”"
_NAMES = {
    "number": "the number",
    "run_id": "the id of the workflow run",
    "job_id": "the id of the job",
    "path": "the path of the file",
    "sha": "the hash of the commit",
    "base": "the two branches, tags or commits to compare",
    "query": "what to search for",
    "source": "which document",
    "owner": "the user or organisation",
}
_TALK = {
    Talk.THANKS: "You're welcome.",
    Talk.BYE: "Goodbye.",
    Talk.NOTED: "All right. Ask whenever you like.",
    Talk.LEFT: "All right, I leave it as it is and do nothing.",
    Talk.AGREED: "Nothing is waiting for your yes, and nothing was changed. If I refused something, the answer before this one says why "
    "and what allows it.",
    Talk.SORRY: "I am sorry that this did not help. I am a program without a language model, which finds and quotes. "
    "Ask for one thing at a time, in the words of the documents or with the name of the repository.",
    Talk.GREETING: "Hello.",
    Talk.HELP: "Hello. I am the platform engineer's offline model: a program and no person, a demonstration without a language model. "
    "I find and quote, and make nothing up.",
}


def talk(kind: Talk, tools: Sequence[ToolSpec]) -> str:
    """An answer to small talk."""
    said = _TALK[kind]
    return f"{said} {abilities(tools)}" if kind in (Talk.GREETING, Talk.HELP) else said


def not_weighed(condition: str) -> str:
    """That a part is done whether or not its condition holds; empty without one."""
    return f"I cannot check the condition “{condition}”, so here is the result anyway." if condition else ""


def outside(tools: Sequence[ToolSpec]) -> str:
    """An answer to what no tool can do."""
    return f"I cannot help with that. {abilities(tools)}"


def abilities(tools: Sequence[ToolSpec]) -> str:
    """A line for each tool, and requests to try."""
    reading = [tool for tool in tools if tool.examples and not tool.changes]
    changing = [tool for tool in tools if tool.examples and tool.changes and tool.parameters]
    described = [*reading, *changing] or list(tools)
    if not described:
        return "No agent is available right now, so I cannot answer. If the service has just started, ask again in a moment; /agents shows the state."
    lines = [f"- **{tool.name.replace('_', ' ')}**: {_summary(tool)}." for tool in described[:SHOWN]]
    more = len(described) - SHOWN
    lines += [f"- … and {more} more."] if more > 0 else []
    examples = [f"- {text}" for text in _examples(reading or described)]
    tried = ["", "Try one of these:", "", *examples] if examples else []
    return "\n".join(["This is what I can ask:", "", *lines, *tried])


def question(missing: Sequence[str]) -> str:
    """One plain question for the arguments that a tool still needs."""
    names = set(missing)
    if names & {"repo", "repository"}:
        return "Which repository do you mean? Please name it as owner/repository."
    if names <= {"query", "q", "question"}:
        return "What should I search for?"
    named = (_NAMES.get(name, f"the {name.replace('_', ' ')}") for name in missing)
    return f"Please tell me {' and '.join(named)}: which one do you mean?"


def not_applied(parts: Sequence[str]) -> str:
    """Words that the answer does not follow."""
    return f"Not applied, since no argument of the tool takes it: {', '.join(f'“{part}”' for part in parts)}."


def comparison(kind: str, numbers: Mapping[str, tuple[int, bool]]) -> str:
    """Which repository has more. Each number comes with whether there are more than that."""
    shown = ", ".join(
        f"{name} has {'at least ' if more else ''}{number}" for name, (number, more) in numbers.items()
    )
    counts = [number for number, _ in numbers.values()]
    if any(more for _, more in numbers.values()):
        return f"**{shown} {kind}.** Which has more cannot be told from one page."
    if len(set(counts)) == 1:
        return f"**{shown} {kind}: the same number.**"
    most = max(numbers, key=lambda name: numbers[name][0])
    return f"**{shown} {kind}: {most} has more.**"


def _summary(tool: ToolSpec) -> str:
    text = tool.summary or tool.description
    return text.strip().split("\n")[0].split(". ")[0].rstrip(".")


def _examples(tools: Sequence[ToolSpec]) -> list[str]:
    """The first example of each tool, then the second ones, until there are enough."""
    ordered = [tool.examples[n] for n in range(TRIED) for tool in tools if len(tool.examples) > n]
    return list(dict.fromkeys(ordered))[:TRIED]
