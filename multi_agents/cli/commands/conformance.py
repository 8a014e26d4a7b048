"""`conformance`: hold any A2A agent to the specification, from outside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from multi_agents.cli.console import clean, out, print_json, say
from multi_agents.cli.errors import ServiceUnreachable, UsageError
from multi_agents.cli.exit_codes import ExitCode
from multi_agents.cli.running import run

if TYPE_CHECKING:
    from utils.testing.conformance import Verdict

SAME = " (The same at {more} more; --json lists them.)"

STYLES = {"pass": "green", "fail": "red", "skipped": "yellow"}


def conformance(url: str, ask: str | None, seconds: float, *, as_json: bool) -> ExitCode:
    """Run the checks. Exit code 1 when a rule is broken, 3 when there is no agent."""
    return run(_conformance(url, ask, seconds, as_json=as_json), as_json=as_json)


async def _conformance(url: str, ask: str | None, seconds: float, *, as_json: bool) -> ExitCode:
    from utils.testing import conformance as rules

    if not url.startswith(("http://", "https://")):
        raise UsageError(f"{clean(url)} is not an address; write it as http://host:port.")
    verdicts: list[Verdict] = []
    try:
        async for verdict in rules.conformance(url, ask=ask or rules.ASK, seconds=seconds):
            verdicts.append(verdict)
    except rules.NoAgent as error:
        raise ServiceUnreachable(str(error)) from error
    if as_json:
        print_json([asdict(verdict) for verdict in verdicts])
    else:
        _print_table(verdicts)
    failed = any(verdict.outcome is rules.Outcome.FAIL for verdict in verdicts)
    return ExitCode.UNEXPECTED if failed else ExitCode.OK


def _each_fault_once(verdicts: Sequence[Verdict]) -> Iterator[tuple[Verdict, int]]:
    """The verdicts to show, each with the number of further rules that were broken in the same words and are not shown."""
    faults = Counter(verdict.reason for verdict in verdicts if verdict.outcome.value == "fail")
    told = set[str]()
    for verdict in verdicts:
        if verdict.outcome.value != "fail":
            yield verdict, 0
        elif verdict.reason not in told:
            told.add(verdict.reason)
            yield verdict, faults[verdict.reason] - 1


def _print_table(verdicts: Sequence[Verdict]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("outcome", "rule", "section", "reason"):
        table.add_column(heading, no_wrap=heading != "reason", overflow="fold")
    for verdict, more in _each_fault_once(verdicts):
        outcome = Text(verdict.outcome.value, style=STYLES[verdict.outcome.value])
        reason = clean(verdict.reason) + (SAME.format(more=more) if more else "")
        table.add_row(outcome, Text(verdict.check), Text(verdict.section), Text(reason))
    out().print(table)
    counts = Counter(verdict.outcome.value for verdict in verdicts)
    say(", ".join(f"{counts[name]} {name}" for name in STYLES) + ". Sections are those of A2A 1.0.")
