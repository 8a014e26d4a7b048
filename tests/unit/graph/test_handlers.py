"""What watches a model's answer costs nothing that grows with the conversation."""

from __future__ import annotations

import pytest
from langchain.agents.middleware import ModelResponse
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.callbacks import manager as callbacks
from langchain_core.messages import HumanMessage

from utils.a2a_common.graph.model.call import ModelCall
from utils.context.called_usage import ReportedUsage, reported_usage
from utils.llm.reply.watch import ReplyWatch, watched_reply
from utils.messages.counter import MessageCounter
from utils.testing.scripted_model import ScriptedModel


class Request:
    """As much of a model request as the innermost middleware looks at."""

    model = ScriptedModel(script=[])

    class runtime:
        @staticmethod
        def stream_writer(_event: object) -> None: ...


async def test_no_handler_has_the_conversation_written_out_for_it(monkeypatch: pytest.MonkeyPatch):
    written: list[object] = []

    def write_out(messages: object) -> str:
        written.append(messages)
        return ""

    monkeypatch.setattr(callbacks, "get_buffer_string", write_out)
    model = ScriptedModel(script=["Hello."])

    async def ask(_request: object) -> object:
        return ModelResponse([await model.ainvoke([HumanMessage("Hi.")])])

    with watched_reply(), reported_usage(1, MessageCounter()):
        await ModelCall(60, 60).awrap_model_call(Request(), ask)  # type: ignore[arg-type]

    assert not written


@pytest.mark.parametrize("kind", [ReplyWatch, ReportedUsage])
def test_each_handler_says_what_it_does_when_a_model_is_asked(kind: type[BaseCallbackHandler]):
    assert kind.on_chat_model_start is not BaseCallbackHandler.on_chat_model_start
