"""Libraries under an agent do not fill its log."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
CALL = """
from langchain_core.messages import HumanMessage
from utils.llm.factory import create_chat_model
from utils.observability.logging import configure_logging
from utils.observability.settings import LogSettings
from utils.settings import LLMSettings
from utils.testing.strict_provider import ScriptedBrain, run_strict_provider

configure_logging(LogSettings.load({}), agent="quiet")
with run_strict_provider(ScriptedBrain(["Hello."])) as provider:
    model = create_chat_model(LLMSettings.load(provider.environment("openai")))
    print(model.invoke([HumanMessage("Hi")]).text)
"""


async def test_a_model_call_writes_no_line_of_its_http_client() -> None:
    """In a process of its own, since the log belongs to the process."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", CALL, cwd=ROOT, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    out, log = await process.communicate()
    assert out.decode().strip() == "Hello.", log.decode()
    assert "HTTP Request" not in log.decode()
