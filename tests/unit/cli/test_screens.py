"""What is shown on screens of several widths."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from multi_agents.cli.console import say
from multi_agents.cli.service.agents import AgentRow
from multi_agents.cli.view.agents import table_of
from multi_agents.cli.view.fitted_table import fitted_widths
from multi_agents.cli.view.render import live_view, markdown, settled_view
from multi_agents.cli.view.state import TurnView, add_activity
from utils.events import ModelWaited, ToolStarted

WIDTHS = pytest.mark.parametrize("width", [40, 80, 110, 200])
PULLS = "\n".join([
    "| # | Title | Author | State | Labels | Base | Head | Created | Updated | Reviewers |",
    "|---|---|---|---|---|---|---|---|---|---|",
    *(
        f"| {number} | An amazing new feature with a long title {number} | monalisa | open | bug | master "
        f"| new-topic-{number} | 2026-01-01 | 2026-01-01 | other_user |"
        for number in range(12)
    ),
])  # fmt: skip


def drawn(renderable: object, width: int) -> list[str]:
    console = Console(file=io.StringIO(), width=width, force_terminal=False)
    console.print(renderable)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


@WIDTHS
def test_each_row_of_a_wide_table_takes_one_line_and_what_does_not_fit_is_named(width):
    lines = [line for line in drawn(markdown(PULLS), width) if line]
    rows = [line for line in lines if "An amazing" in line]
    assert len(rows) == 12
    assert all(len(line) <= width for line in lines)
    assert len(lines) <= 12 + 1 + 5
    left_out = " ".join(lines[13:]).replace("\n", " ")
    for heading in ("Author", "State", "Labels", "Base", "Head", "Created", "Updated", "Reviewers"):
        assert (heading in lines[0]) != (heading in left_out), heading


def test_a_link_in_a_wide_table_is_its_text_so_that_the_columns_stay_narrow():
    head = "| Tag | Name | Author | Draft |\n|---|---|---|---|\n"
    row = "| [v1.0.1](https://github.com/octocat/hello-world/releases/v1.0.1) | One | octocat | no |"
    lines = drawn(markdown(head + row), 60)
    assert lines[-1].split() == ["v1.0.1", "One", "octocat", "no"]
    prose = drawn(markdown("| where | what |\n|---|---|\n| [here](https://x.example/a) | it |"), 60)
    assert "https://x.example/a" in " ".join(prose)


def test_a_table_of_prose_is_wrapped_and_loses_no_word():
    prose = "word " * 40
    lines = drawn(markdown(f"| name | meaning |\n|---|---|\n| A | {prose} |"), 40)
    assert " ".join(lines).count("word") == 40


@pytest.mark.parametrize(
    "written",
    [
        "Run git clone <url> and read List<String>, then set <your-token>.",
        "<details><summary>Steps</summary> open the panel </details>",
        "<!-- replace this line -->",
        "<script>alert(1)</script>",
    ],
)
def test_what_looks_like_html_is_shown_as_it_was_written(written):
    assert "".join(drawn(markdown(written), 200)).strip() == written
    in_a_table = drawn(markdown(f"| name | value |\n|---|---|\n| A | {written} |"), 200)
    assert written in " ".join(in_a_table)


def test_columns_are_kept_from_the_left_and_narrow_ones_where_they_fit():
    assert fitted_widths([3, 60, 8, 40, 5], 60) == {0: 3, 1: 38, 2: 8, 4: 5}
    assert fitted_widths([50], 10) == {0: 10}


@pytest.fixture
def screen(monkeypatch):
    shown = Console(file=io.StringIO(), width=30, force_terminal=True)
    monkeypatch.setattr("multi_agents.cli.console.err", lambda: shown)
    return shown.file


def test_a_line_is_wrapped_between_words_and_an_address_stays_whole(screen):
    address = "https://github.com/octocat/hello-world/pulls"
    say(f"  The next line has an address that is long: {address} as it is.")
    assert screen.getvalue().splitlines() == [
        "  The next line has an address",
        "  that is long:",
        f"  {address}",
        "  as it is.",
    ]


def test_a_line_with_a_command_to_copy_has_no_line_end_in_it(screen):
    say("OPENAI_API_KEY is set and not used: LLM_MODEL=m platform-engineer chat uses it.", to_copy=True)
    assert len(screen.getvalue().splitlines()) == 1


def test_what_was_waited_for_is_not_part_of_the_tree_that_stays():
    view = TurnView()
    add_activity(view.nodes, ModelWaited(3.0, begun=False))
    add_activity(view.nodes, ToolStarted("1", "search", "q"))
    assert any("waiting for the model (3 s so far)" in line for line in drawn(live_view(view), 80))
    stays = settled_view(view)
    assert not any("waiting" in line for line in drawn(stays, 80))
    assert any("search" in line for line in drawn(stays, 80))


ROWS = [
    AgentRow(
        "supervisor", "http://127.0.0.1:8000", "ready", "", "", 7.0, "s", "0.9.0", ("Plan and delegate",)
    ),
    AgentRow("rag", "http://127.0.0.1:8002", "down", "No agent answers at http://127.0.0.1:8002."),
    AgentRow("github", "http://127.0.0.1:8001", "not ready", "", "", 900.0, "g", "0.9.0", ("Search",) * 40),
]


@WIDTHS
def test_name_health_and_latency_of_every_agent_are_readable(width):
    lines = drawn(table_of(ROWS, width), width)
    assert len(lines) == 1 + len(ROWS)
    for line, row in zip(lines[1:], ROWS, strict=True):
        assert line.startswith(row.name)
        assert row.health in line
        assert row.latency_ms is None or f"{row.latency_ms:.0f} ms" in line
    assert all(len(line) <= width for line in lines)
    assert ("0.9.0" in lines[1]) == (width >= 80)
    assert ("http://127.0.0.1:8000" in lines[1]) == (width >= 110)


@pytest.mark.parametrize(
    "written",
    [
        "gpj&#x202e;exe.",
        "gpj&#8238;exe.",
        "gpj\u202eexe.",
        "[gpj&#x202e;exe.](https://x.example)",
        "| a | b |\n|---|---|\n| gpj&#x202e;exe. | x |",
        "# gpj&#x202e;exe.",
    ],
)
def test_no_way_to_write_it_turns_the_direction_of_a_text(written):
    shown = "\n".join(drawn(markdown(written), 80))
    assert "gpjexe." in shown
    assert not {*"\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"} & {*shown}
