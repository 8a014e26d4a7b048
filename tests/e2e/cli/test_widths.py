"""What a person sees in a terminal of several widths: no line is wider, none is broken within a word."""

from __future__ import annotations

import re
import shutil
import sys

import pytest

from tests.e2e.cli.command import ROOT
from tests.e2e.cli.scripted_agent import ScriptedAgent, Turn, serve
from tests.e2e.cli.tmux import tmux

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")

HEAD = "| # | Title | Author | State | Labels | Base | Head | Created |\n|---|---|---|---|---|---|---|---|\n"
ROW = "| {0} | Amazing new feature {0} | monalisa | open | bug | master | new-topic-{0} | 2026-01-04 |"
NOTICE = (
    "This answer comes from a demonstration, which routes requests and quotes what its tools return. No more."
)


async def listing(turn: Turn) -> None:
    await turn.task()
    rows = "\n".join(ROW.format(number) for number in range(60, 0, -1))
    await turn.chunk(f"**60 pull requests**\n\n{HEAD}{rows}", append=False)
    await turn.chunk(NOTICE, append=False, name="notice")
    await turn.status("completed")


@pytest.mark.parametrize("width", [40, 80, 110, 200])
@pytest.mark.long
async def test_a_long_list_is_cut_its_rows_take_a_line_each_and_sentences_are_wrapped(tmp_path, width):
    async with serve(ScriptedAgent(listing)) as url:
        command = f"{sys.executable} -m multi_agents.cli chat --url {url}"
        async with tmux(command, width=width, home=tmp_path, PYTHONPATH=str(ROOT)) as screen:
            await screen.shows("/help for commands")
            await screen.type("List them")
            await screen.shows("No more.")
            shown = await screen.text()
            rows = [line for line in shown.splitlines() if re.match(r"\d+ +Amazing new feature \d+", line)]
            assert len(rows) == 12
            assert "48 more: /more" in shown
            words = {word for line in shown.splitlines() for word in line.split()}
            assert set(NOTICE.split()) <= words
            await screen.type("/more")
            await screen.shows("36 more: /more")
            await screen.type("/agents")
            await screen.shows("latency")
            agents = (await screen.text()).split("latency")[1]
            assert re.search(r"agent +ready +\d+ ms", agents)
            await screen.type("/quit")
            await screen.shows("Goodbye.")
