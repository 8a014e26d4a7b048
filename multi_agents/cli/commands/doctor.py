"""`doctor`: lists the problems of the installation, each in one sentence that says what to do."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from multi_agents.cli.console import out, print_json
from multi_agents.cli.exit_codes import ExitCode
from multi_agents.cli.model.finding import Level
from multi_agents.cli.running import run
from multi_agents.cli.service.plan import AGENTS_FILE


def doctor(agents_file: Path | None, *, as_json: bool) -> ExitCode:
    """Run the checks: exit code 0 when nothing is wrong, else 2."""
    return run(_doctor(agents_file or AGENTS_FILE, as_json=as_json), as_json=as_json)


async def _doctor(agents_file: Path, *, as_json: bool) -> ExitCode:
    from multi_agents.cli.checkup import all_checks

    findings = await all_checks(agents_file)
    if as_json:
        print_json([asdict(finding) for finding in findings])
    else:
        from rich.text import Text

        marks = {Level.OK: ("✓", "green"), Level.NOTE: ("·", "yellow"), Level.WRONG: ("✗", "red")}
        for finding in findings:
            mark, style = marks[finding.level]
            line = Text(f"{mark} ", style=style).append(f"{finding.check:<12} ", style="bold")
            out().print(line.append(finding.message, style="default"), soft_wrap=True)
    wrong = any(finding.level is Level.WRONG for finding in findings)
    return ExitCode.USAGE if wrong else ExitCode.OK
