from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]

SCRIPT = """
import sys, tempfile, pathlib
from langgraph.checkpoint.memory import InMemorySaver
from agents.template.agent import TemplateAgent as Agent
from utils.a2a_common.graph.runtime import AgentRuntime
from utils.a2a_common.graph.settings import AgentSettings
from utils.testing.scripted_model import ScriptedModel
import asyncio

async def main():
    home = pathlib.Path(tempfile.mkdtemp())
    agent = Agent(AgentRuntime(home=home, settings=AgentSettings.load({}), model=ScriptedModel(script=[]), checkpointer=InMemorySaver()))
    await agent.start()
    await agent.build()
    await agent.close()

asyncio.run(main())
print(sorted(name for name in sys.modules if name.split(".")[0] in {"mcp", "langchain_mcp_adapters"}
             or name.startswith("utils.mcp")))
"""


@pytest.mark.processes
@pytest.mark.long
def test_an_agent_without_mcp_servers_imports_nothing_of_it():
    found = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "[]"
