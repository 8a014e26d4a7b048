"""What a turn had changed in a process that died, as far as its messages tell: noted for the turn that goes on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from langchain_core.messages import BaseMessage, ToolMessage

from utils.a2a_common.graph.tools.boundary import DELEGATION
from utils.a2a_common.tasks.begun_effects import note_asked, note_effect
from utils.messages.repeatable import may_have_changed

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool


def note_done(done: Sequence[BaseMessage], tools: Sequence[BaseTool]) -> None:
    """Note each call that has a result and may have changed something.

    Args:
        done: Messages that the model and the tools added.
        tools: All tools of the agent.
    """
    marks = {tool.name: tool.metadata or {} for tool in tools}
    for message in done:
        if not isinstance(message, ToolMessage) or message.name not in marks:
            continue
        if may_have_changed(marks[message.name]):
            note = note_asked if marks[message.name].get(DELEGATION) else note_effect
            note(message.name, message.tool_call_id)
