"""The results of finished delegations, in the graph's state by agent and task, and how later requests quote them.

`{result:github.2}` in a request is replaced by the text that the agent `github` returned for the second request to it in this
conversation, `{result:github.2.data}` by its data as JSON. An unknown reference is removed. Pure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, NotRequired, TypedDict

from langchain.agents.middleware import AgentState
from langchain_core.messages import AIMessage, BaseMessage

from utils.events import DataPart

if TYPE_CHECKING:
    from utils.a2a_common.client.delegation.task_view import TaskView

LARGEST_DATA = 10_000
"""Characters of a result's data as JSON; larger data is not kept."""

MOST_TASKS = 20
"""Results that are kept of one agent; the oldest go."""

LONGEST_QUOTE = 50_000
"""Characters of one quoted result; the rest is cut off."""

_REFERENCE = re.compile(r"\{result:([a-z0-9-]+)\.([0-9]{1,6})(\.data)?\}")

NOTHING_QUOTED = "The result that this request refers to does not exist."
"""The text that is sent if a request consists of unknown references only."""

HOW_TO_QUOTE = (
    "To pass on an earlier result without writing it out, put {result:AGENT.N} in the request: it is replaced by the whole "
    "text that AGENT returned for the Nth request to it in this conversation; {result:AGENT.N.data} by its data as JSON."
)
"""Instructions on references for a model."""


class NodeOutput(TypedDict):
    """The result of one delegation.

    Attributes:
        text: The text, as the model saw it.
        data: The data parts of its artifacts; empty where there are none, or they are too large.
        handle: Handle of the full text, where `text` is a part of it.
    """

    text: str
    data: Sequence[Any]
    handle: str


NodeOutputs = Mapping[str, Mapping[str, NodeOutput]]
"""Results by agent, and by the number of the request to that agent in the conversation."""


def joined(old: NodeOutputs | None, new: NodeOutputs | None) -> dict[str, dict[str, NodeOutput]]:
    """Both, the newest of each agent."""
    found = {agent: dict(outputs) for agent, outputs in (old or {}).items()}
    for agent, outputs in (new or {}).items():
        together = {**found.get(agent, {}), **outputs}
        kept = sorted(together, key=int)[-MOST_TASKS:]
        found[agent] = {task: together[task] for task in kept}
    return found


class NodeOutputsState(AgentState[Any]):
    """The graph's state with the results of delegations."""

    node_outputs: NotRequired[Annotated[dict[str, dict[str, NodeOutput]], joined]]


def data_of(task: TaskView) -> list[Any]:
    """The data parts of a remote task's artifacts, in order."""
    parts = [part for artifact in task.artifacts.values() for part in artifact.parts]
    return [part.value for part in parts if isinstance(part, DataPart)]


def number_of(messages: Sequence[BaseMessage], agent: str, step: str, call_id: str) -> str:
    """Number of a tool call among the requests to its agent in a conversation, from 1.

    Args:
        messages: The conversation.
        agent: The agent.
        step: Id of the answer that makes the call, since call ids alone may repeat.
        call_id: The call.
    """
    count = 0
    for message in messages:
        if isinstance(message, AIMessage):
            for call in message.tool_calls:
                count += call["name"] == agent
                if call["id"] == call_id and str(message.id or "") == step:
                    return str(count)
    return str(count + 1)


def output_of(text: str, data: Sequence[Any], handle: str) -> NodeOutput:
    """The entry of a result."""
    small = len(json.dumps(data, ensure_ascii=False, default=str)) <= LARGEST_DATA
    return NodeOutput(text=text, data=list(data) if small else [], handle=handle)


async def quoted(
    request: str, outputs: NodeOutputs | None, whole: Callable[[str], Awaitable[str | None]]
) -> str:
    """The request with each reference replaced.

    Args:
        request: The request as the model wrote it.
        outputs: The results so far.
        whole: Reads the full text of a handle; `None` if it is gone.
    """
    texts: dict[str, str] = {}
    for found in _REFERENCE.finditer(request):
        agent, number, wants_data = found.groups()
        output = (outputs or {}).get(agent, {}).get(number)
        texts[found.group()] = "" if output is None else await _text_of(output, whole, data=bool(wants_data))
    return _REFERENCE.sub(lambda found: texts[found.group()], request).strip()


async def _text_of(output: NodeOutput, whole: Callable[[str], Awaitable[str | None]], *, data: bool) -> str:
    if data:
        values = output["data"]
        return (
            json.dumps(values[0] if len(values) == 1 else list(values), ensure_ascii=False) if values else ""
        )
    full = await whole(output["handle"]) if output["handle"] else None
    return (full if full is not None else output["text"])[:LONGEST_QUOTE]
