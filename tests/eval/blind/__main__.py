"""Asks a set and writes its results beside it, or where `--out` says."""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

import yaml

from tests.eval.blind.checks import summary, verdicts
from tests.eval.blind.question import read_set
from tests.eval.blind.service import ask_all


def main(arguments: list[str]) -> int:
    """Run the command; returns its exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.eval.blind", description=__doc__)
    parser.add_argument("set", type=Path, help="the questions")
    parser.add_argument("--out", type=Path, help="where the results go; SET.results.yaml when left out")
    parser.add_argument("--only", default="", help="ask only questions whose id or kind begins so")
    options = parser.parse_args(arguments)
    questions = [
        q for q in read_set(options.set) if options.only in ("", q.kind) or q.id.startswith(options.only)
    ]
    with tempfile.TemporaryDirectory() as home:
        results = asyncio.run(ask_all(questions, Path(home)))
    rows = [result.as_row() | {"checks": verdicts(result)} for result in results]
    out = options.out or options.set.with_suffix(".results.yaml")
    out.write_text(yaml.safe_dump(rows, sort_keys=False, allow_unicode=True, width=120), encoding="utf-8")
    sys.stdout.write(f"{summary(results)}\n{out}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
