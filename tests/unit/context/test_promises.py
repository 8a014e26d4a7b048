"""The table of promises is complete, and its lines of `make bench` exist."""

import re
import tomllib
from pathlib import Path

from tests.unit.context.conversations import RecordingSummariser, long_talk
from utils.context.summarize_messages import OPENING, summarize_messages

ROOT = Path(__file__).parents[3]
ROW = re.compile(r"^\| (F?\d\.\d+) \| .+ \| (.+) \|$", re.MULTILINE)
BENCH = re.compile(r"^`make bench`: `(.+)`$")
PROMISED = [
    *(f"0.{n}" for n in (*range(1, 10), *range(23, 31), 33, 35)),
    *(f"1.{n}" for n in range(1, 18)),
    *(f"2.{n}" for n in (*range(2, 13), 14)),
    *(f"3.{n}" for n in (*range(1, 7), 8, *range(10, 15), 19)),
    *(f"4.{n}" for n in (1, 2, 8, 9, 10, 17, 18, 22)),
    *("F0.5", "F1.1", "F1.2", "F1.3", "F1.4", "F2.1", "F2.3", "F4.1", "F4.2"),
]


def rows() -> list[tuple[str, str]]:
    return ROW.findall((ROOT / "docs/systems/context.md").read_text("utf-8"))


def test_each_promise_has_a_row_of_its_own_with_a_test_or_a_measurement():
    found = {number for number, _ in rows()}
    assert [number for number in PROMISED if number not in found] == []
    assert [by for _, by in rows() if not re.fullmatch(r"`test_\w+`", by) and not BENCH.match(by)] == []


def test_each_measurement_that_a_row_names_is_printed_by_a_benchmark():
    printed = "\n".join(path.read_text("utf-8") for path in (ROOT / "benchmarks").glob("*.py"))
    named = [match[1] for _, by in rows() if (match := BENCH.match(by))]
    assert named
    assert [line for line in named if line not in printed] == []


def test_langmem_is_among_the_dependencies():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert [line for line in project["dependencies"] if line.startswith("langmem>=0.0.30")]


def test_the_questions_of_earlier_systems_are_answered():
    text = (ROOT / "docs/decisions/0012-when-and-what-to-compact.md").read_text("utf-8")
    questions = re.findall(r"^- \*\*(.+?)\*\*", text, re.MULTILINE)
    asked = ("LangMem", "80,000", "recent messages", "smaller", "State or file", "drop the oldest")
    for word in (*asked, "static margin", "Mem0", "session memory"):
        assert any(word in question for question in questions)


async def test_messages_become_one_summary_message_and_an_extract_without_a_summariser():
    talk = long_talk(30)
    written = await summarize_messages(talk, RecordingSummariser("The deploy failed."))
    assert written.content == f"{OPENING}The deploy failed."
    assert OPENING == "Previous conversation summary: "
    extracted = await summarize_messages(talk, max_tokens=100)
    assert str(extracted.content).startswith(OPENING)
    assert 20 < len(str(extracted.content)) < 800
