"""One turn of an agent in a process of its own, which says what happens and stops where it is told to.

    python -m tests.e2e.resume.child '{"home": "/tmp/x", "text": "look a", "stop": "tool"}'

Writes each event as a line of JSON to standard output. What a tool did and what the model was asked is appended to files in the
home, which all processes share. `stop` names the place where the process stays until it is killed: `input` (before the first
checkpoint), `stream` (after the first piece of the answer), `answer` (the model's answer is stored, the nodes after it did not run), `tool`, `record` (a tool has ended, its checkpoint is not written; `record order`: that tool),
`written` (the model's call is stored, its checkpoint is not), `end` (the graph has finished).
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import BaseMessage, HumanMessage, ToolMessage

from utils.a2a_common import AgentRuntime, BaseLangGraphAgent, agent_tool, ask_user, publish
from utils.a2a_common.graph.settings import AgentSettings
from utils.a2a_common.protocol.request import AgentRequest
from utils.events import ArtifactAdded, Completed, InputRequired, TextPart, Usage
from utils.persistence.checkpoints import open_checkpointer
from utils.testing.scripted_model import ScriptedModel, ScriptedReply, call, calls

QUIET = {"CONTEXT_PIN_WITH_MODEL": "false"}
SPENT = Usage(10, 1)


async def for_ever(said: str) -> None:
    """Say where the process is, and stay there."""
    print(json.dumps({"event": "stopped", "at": said}), flush=True)
    await asyncio.Event().wait()


class Shop(BaseLangGraphAgent):
    """Tools that can be seen to have run."""

    name = "shop"
    description = "Looks up and orders."
    home: Path
    stop_in = ""

    def model_middleware(self) -> Sequence[AgentMiddleware[Any, Any]]:
        return [AfterAnswer(self.stop_in)]

    def note(self, what: str) -> None:
        with (self.home / "effects").open("a") as effects:
            effects.write(f"{what}\n")

    @agent_tool(read_only=True)
    async def look(self) -> str:
        """Look."""
        self.note("look")
        if self.stop_in == "tool":
            await for_ever("look")
        return "seen"

    @agent_tool()
    async def order(self) -> str:
        """Order."""
        self.note("order")
        if self.stop_in == "tool":
            await for_ever("order")
        publish(ArtifactAdded([TextPart("the receipt")], name="receipt"))
        return "ordered"

    @agent_tool()
    async def pack(self) -> str:
        """Pack."""
        self.note("pack")
        return "packed"

    @agent_tool(read_only=True)
    async def wait(self) -> str:
        """Wait."""
        if self.stop_in == "wait":
            await packed_is_stored(self)
            await for_ever("wait")
        return "waited"

    @agent_tool()
    async def confirm(self) -> str:
        """Ask, then order."""
        colour = ask_user("Which colour?").text
        size = ask_user("Which size?").text
        self.note(f"confirm {colour} {size}")
        if self.stop_in == "tool":
            await for_ever("confirm")
        return f"{colour} {size}"


class AfterAnswer(AgentMiddleware[Any, Any]):
    """A node after the model that may be where the process stays."""

    def __init__(self, stop_in: str) -> None:
        super().__init__()
        self._stop_in = stop_in

    async def aafter_model(self, state: Any, runtime: Any) -> None:
        if self._stop_in == "answer" and not state["messages"][-1].tool_calls:
            await for_ever("answer")


async def packed_is_stored(agent: Shop) -> None:
    """Wait until the checkpoints hold the result of the other call of the same step."""
    saver: Any = agent.runtime.checkpointer
    while True:
        async with saver.conn.execute(
            "SELECT 1 FROM writes JOIN conversation_messages AS it USING (thread_id)"
            " WHERE it.digest <> '' AND instr(writes.type, it.digest) AND instr(it.body, CAST('packed' AS BLOB))"
        ) as rows:
            if await rows.fetchone():
                return


def script(home: Path, *, gate: asyncio.Event | None) -> Any:
    """Calls the tools that the request names, then says what they answered."""

    def answer(messages: Sequence[BaseMessage]) -> ScriptedReply:
        with (home / "requests").open("a") as requests:
            requests.write(f"{[each.type for each in messages]}\n")
        asked = [place for place, each in enumerate(messages) if isinstance(each, HumanMessage)][-1]
        results = [str(each.text) for each in messages[asked:] if isinstance(each, ToolMessage)]
        wanted = [] if results else str(messages[asked].text).split()[1:]
        if wanted:
            return calls(*(call(name) for name in wanted), usage=SPENT)
        said = f"I have {', '.join(results) or 'nothing'}."
        return ScriptedReply(chunks=[said[:6], said[6:]], usage=SPENT, chunk_gate=gate)

    return answer


def hold(saver: Any, stop: str) -> None:
    """Let the checkpointer stop where it is told to."""
    put, put_writes = saver.aput, saver.aput_writes
    stopped, called = asyncio.Event(), asyncio.Event()

    async def aput(config: Any, checkpoint: Any, *args: Any) -> Any:
        if stop == "input":
            await for_ever("input")
        if stop == "written" and "AIMessage" in repr(checkpoint):
            await called.wait()
            await for_ever("written")
        if stopped.is_set():  # LangGraph does not wait for the writes before the checkpoint that follows them
            await asyncio.Event().wait()
        return await put(config, checkpoint, *args)

    async def aput_writes(config: Any, writes: Any, *args: Any) -> None:
        if stop.startswith("record") and all(
            part in repr(writes) for part in ("ToolMessage", *stop.split()[1:])
        ):
            stopped.set()
            await for_ever("record")
        await put_writes(config, writes, *args)
        if "AIMessage" in repr(writes):
            called.set()

    saver.aput, saver.aput_writes = aput, aput_writes


def shown(event: Any) -> str:
    """An event as a line of JSON."""
    fields = {name: value for name, value in dataclasses.asdict(event).items() if name != "seconds"}
    return json.dumps({"event": type(event).__name__, **fields}, default=str)


async def main(order: dict[str, Any]) -> None:
    """Run the turn."""
    home, stop = Path(order["home"]), order.get("stop", "")
    async with open_checkpointer(home / "checkpoints.sqlite") as saver:
        hold(saver, stop)
        model = ScriptedModel(script=script(home, gate=asyncio.Event() if stop == "stream" else None))
        agent = Shop(
            AgentRuntime(home=home, settings=AgentSettings.load(QUIET), model=model, checkpointer=saver)
        )
        agent.home, agent.stop_in = home, stop
        request = AgentRequest(
            text=order["text"], task_id="task", context_id="context", thread_id="thread",
            message_id=order.get("message_id", "message"), resumes=order.get("resumes", False),
            recovered=order.get("recovered", False),
        )  # fmt: skip
        await agent.start()
        async for event in agent.stream(request):
            if stop == "end" and isinstance(event, Completed):
                await for_ever("end")
            print(shown(event), flush=True)
        if not isinstance(event, InputRequired):
            await agent.forget_calls(request.task_id)  # as the engine does once the end is stored
        await agent.close()


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[1])))
