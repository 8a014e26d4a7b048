"""`python -m tests.eval.blind.facts RESULTS…`: which answers about documents hold all that was asked, on their first screen.

What has to be there is in `tests/eval/sets/facts.yaml`. Links to other sections do not count, and neither does what a reader has to
scroll to.
"""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import yaml

FACTS = Path(__file__).parents[1] / "sets" / "facts.yaml"
LINES = 44
"""Lines of a screen."""
COLUMNS = 100
_LINKS = re.compile(r"^(?:See also:\n(?:- .*\n?)*|Source: .*|- .* \u2014 \S+\.md(?:#\S*)?)$", re.MULTILINE)


@cache
def facts() -> Mapping[str, Sequence[str]]:
    """The patterns of each question."""
    read: dict[str, list[str]] = yaml.load(FACTS.read_text(encoding="utf-8"), yaml.CSafeLoader)
    return read


def screen(answer: str) -> str:
    """What is read without scrolling, links left out."""
    lines = [part for line in answer.strip().split("\n") for part in textwrap.wrap(line, COLUMNS) or [""]]
    return _LINKS.sub("", "\n".join(lines[:LINES]))


def lacking(id_: str, answer: str) -> list[str]:
    """The things that an answer does not hold."""
    shown = " ".join(screen(answer).split())
    return [each for each in facts()[id_] if not re.search(each, shown, re.IGNORECASE)]


def main(paths: Sequence[str]) -> int:
    """Print a line for each file, and what its answers lack."""
    for path in paths:
        rows = [
            row
            for row in yaml.load(Path(path).read_text(encoding="utf-8"), yaml.CSafeLoader)
            if row["id"] in facts()
        ]
        failed = {
            row["id"]: lacks for row in rows if (lacks := lacking(row["id"], row["replies"][-1]["answer"]))
        }
        sys.stdout.write(f"{path}: {len(rows) - len(failed)} of {len(rows)}\n")
        sys.stdout.writelines(f"  {id_}: {', '.join(lacks)}\n" for id_, lacks in failed.items())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
