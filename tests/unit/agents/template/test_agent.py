"""The template agent lists what its file holds."""

from __future__ import annotations

import json
from pathlib import Path

from langgraph.checkpoint.memory import InMemorySaver

from agents.template.agent import TemplateAgent
from utils.a2a_common.graph.runtime import AgentRuntime
from utils.a2a_common.graph.settings import AgentSettings
from utils.a2a_common.protocol.request import AgentRequest
from utils.events import AgentEvent, Completed, Failed
from utils.testing.scripted_model import ScriptedModel, call, calls

ENTRIES = [{"title": "Slow search", "state": "open"}, {"title": "Lost mail", "state": "done"}]


async def ask(home: Path, model: ScriptedModel, file: Path) -> list[AgentEvent]:
    environ = {"TEMPLATE_FILE": str(file)}
    runtime = AgentRuntime(
        home=home, settings=AgentSettings.load(environ), model=model, checkpointer=InMemorySaver()
    )
    request = AgentRequest("What is open?", task_id="t", context_id="c", message_id="m", thread_id="h")
    return [event async for event in TemplateAgent(runtime).stream(request)]


async def test_the_model_reads_the_open_entries_only(tmp_path):
    (tmp_path / "entries.json").write_text(json.dumps(ENTRIES))
    model = ScriptedModel.of(calls(call("list_entries", state="open")), "Search is slow.")

    events = await ask(tmp_path, model, tmp_path / "entries.json")

    shown = model.requests[1].messages[-1].text
    assert "Slow search" in shown
    assert "Lost mail" not in shown
    assert events[-1] == Completed()


async def test_a_missing_file_ends_the_turn_as_failed(tmp_path):
    model = ScriptedModel.of(calls(call("list_entries")), "I could not look.")

    last = (await ask(tmp_path, model, tmp_path / "nothing.json"))[-1]

    assert isinstance(last, Failed)
    assert last.code == "upstream_unavailable"
