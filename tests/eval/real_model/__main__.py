"""Asks realistic requests at the service with a small real model, and writes a table: `make test-real-model`.

The model is downloaded on first use (1.1 GB) and served on a loopback port by llama.cpp. Each result is stored as it comes, so
that a run that was stopped goes on where it stopped; `--again` begins anew. Temperature and seed are fixed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from pathlib import Path

from tests.eval.blind.checks import agents_of, verdicts, wanted_agents
from tests.eval.blind.question import Result, read_set
from tests.eval.real_model.asked import Row, ask
from tests.eval.real_model.model_server import model_server
from utils.llm.reply.text_calls import resembles_call

REQUESTS = Path(__file__).with_name("requests.yaml")
TOOLS = ("github", "rag", "answer")


def main(arguments: list[str]) -> int:
    """Run the command; returns its exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.eval.real_model", description=__doc__)
    parser.add_argument(
        "--cache", type=Path, default=Path(".cache/real-model"), help="model, runtime and results"
    )
    parser.add_argument("--calls", choices=("json", "native"), default="json", help="LLM_TOOL_CALLS")
    parser.add_argument("--only", default="", help="ask only requests whose id begins so")
    parser.add_argument("--again", action="store_true", help="forget the results of earlier runs")
    options = parser.parse_args(arguments)
    results = options.cache / f"results.{options.calls}.jsonl"
    if options.again:
        results.unlink(missing_ok=True)
    asyncio.run(_run(options.cache, options.calls, options.only, results))
    return 0


async def _run(cache: Path, calls: str, only: str, results: Path) -> None:
    known = _stored(results)
    questions = [each for each in read_set(REQUESTS) if each.id.startswith(only)]
    open_ones = [each for each in questions if each.id not in known]
    if open_ones:
        async with model_server(cache) as url:
            async for result, cost in ask(open_ones, cache / "home", url, calls):
                row = _row(result, *cost)
                known[row.id] = row
                with results.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row._asdict(), ensure_ascii=False) + "\n")
                print(_line(row), flush=True)
    rows = [known[each.id] for each in questions if each.id in known]
    print(_table(rows))


def _stored(path: Path) -> dict[str, Row]:
    if not path.exists():
        return {}
    rows = [Row(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]
    return {row.id: row for row in rows}


def _row(result: Result, calls: int, given: int, made: int, seconds: float) -> Row:
    last = result.last
    agents = sorted(agents_of(last))
    return Row(
        id=result.question.id,
        question=result.question.turns[-1],
        agents=agents,
        right=verdicts(result)["agent"],
        invented=not agents and bool(wanted_agents(result.question.agent)),
        raw_call=resembles_call(last.answer, TOOLS),
        state=last.state,
        calls=calls,
        input_tokens=given,
        output_tokens=made,
        seconds=round(seconds),
        answer=last.answer,
    )


def _line(row: Row) -> str:
    marks = [name for name, wrong in (("wrong agent", not row.right), ("raw call", row.raw_call)) if wrong]
    return (
        f"| {row.question} | {', '.join(row.agents) or 'none'}{' (' + ', '.join(marks) + ')' if marks else ''} | {row.state} "
        f"| {row.calls} | {row.input_tokens:,} / {row.output_tokens:,} | {row.seconds} |"
    )


def _table(rows: list[Row]) -> str:
    head = "| request | agents | ended | model calls | tokens in / out | seconds |\n|---|---|---|---|---|---|"
    right, invented = sum(row.right for row in rows), sum(row.invented for row in rows)
    counts = (
        f"right_agent={right}/{len(rows)} invented={invented} raw_calls={sum(row.raw_call for row in rows)}"
    )
    return "\n".join([head, *map(_line, rows), "", counts])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
