"""The tool `gh`, for what the typed tools do not cover."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from agents.github.gh.allowed import ALLOWED, parse
from agents.github.tools.arguments import SHARED_ARGUMENTS, RepositoryArguments
from agents.github.tools.joblog import JobLog
from utils.messages.repeatable import READ_ONLY
from utils.messages.results import Record

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

    from agents.github.gh.runner import Gh, Output

_TAIL = 40
_COLUMNS = 2
"""Tabs before the text in a line of `gh run view --log`: after the job and after the step."""


class RunGh(RepositoryArguments):
    """A command."""

    arguments: list[str] = Field(
        min_length=1,
        description='What stands after gh, one part each, without the repository: ["run", "view", "7", "--log-failed"].',
    )


def gh_tool(gh: Gh) -> BaseTool:
    """The LangChain tool; its result is the JSON of a `Record`."""
    from utils.a2a_common.graph.tools.plain_tool import PlainTool

    async def call(**values: Any) -> Record:
        args = RunGh.model_validate(values)
        arguments = parse(args.arguments)
        output = await gh.run(arguments, args.full_name)
        return record_of(arguments, output)

    commands = ", ".join(" ".join(words) for words in ALLOWED)
    return PlainTool.from_function(
        coroutine=call,
        name="gh",
        description=f"Run a read-only command of the gh program for one repository. Allowed: {commands}.",
        args_schema=RunGh,
        explained=SHARED_ARGUMENTS,
        metadata={READ_ONLY: True},
    )


def record_of(arguments: list[str], output: Output) -> Record:
    """The output as a result; for the log of a failed run, the failing step and the lines around its error."""
    item: dict[str, Any] = {"command": " ".join(["gh", *arguments])}
    failed = _failure(output.text) if "--log-failed" in arguments else {}
    note = "The output is longer than what was kept; its middle is missing." if output.cut else None
    return Record(kind="gh output", item=item | (failed or {"output": output.text}), note=note)


def _failure(text: str) -> dict[str, Any]:
    """Job, step, errors and lines of a log that `gh` printed; empty if it is not such a log."""
    log, job, step = JobLog(_TAIL), "", ""
    for line in text.splitlines():
        if line.count("\t") < _COLUMNS:
            continue
        named, at, raw = line.split("\t", _COLUMNS)
        before = len(log.errors)
        log.add(raw)
        if len(log.errors) > before or not job:
            job, step = named, at
    if not log.lines:
        return {}
    return {
        "job": job,
        "failed_step": step,
        "errors": log.errors,
        "error_excerpt": "\n".join(log.excerpt),
        "log_lines": log.lines,
        "tail": "" if log.excerpt else "\n".join(log.tail),
    }
