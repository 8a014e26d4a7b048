"""Pictures and documents of a conversation, at the wire of the model: the real clients of OpenAI and Bedrock."""

import base64
import json

import pytest
from langchain_core.messages import HumanMessage

from tests.e2e.context.test_middleware import CONFIG, Bench, Brain, call
from tests.property.context.media import pdf, png
from utils.context.rendering import full_text
from utils.messages.handles import handles_in
from utils.testing.strict_provider import Call, Reply, run_strict_provider

PICTURE = png(1_200, 900, b"picture")
REPORT = pdf(3, 300_000)


@pytest.fixture(params=["openai", "aws-bedrock"])
def provider(request):
    return request.param


def block(kind, content):
    data = base64.b64encode(content).decode()
    if kind == "image":
        return {"type": "image", "base64": data, "mime_type": "image/png"}
    return {"type": "file", "base64": data, "mime_type": "application/pdf", "filename": "report.pdf"}


def holds(request, content):
    return base64.b64encode(content).decode() in json.dumps(request.body)


@pytest.mark.parametrize(("kind", "content"), [("image", PICTURE), ("file", REPORT)])
@pytest.mark.long
async def test_what_leaves_the_view_is_named_by_a_handle_that_brings_it_back_whole(
    kind, content, provider, tmp_path, monkeypatch
):
    with run_strict_provider(brain := Brain([]), window=60_000) as double:
        bench = Bench(double, provider, tmp_path, monkeypatch, window=32_000)
        asked = HumanMessage([{"type": "text", "text": "Look at this."}, block(kind, content)], id="first")
        handle = handles_in(full_text(asked))[0]
        await bench.graph.ainvoke({"messages": [asked]}, CONFIG)
        assert holds(double.requests[-1], content)
        for number in range(12):
            brain.replies = [
                call("get_value", f"{number}a"),
                call("get_value", f"{number}b"),
                Reply("Seen."),
            ]
            await bench.say(f"Question {number}? " + "more words " * 800)
        assert not holds(double.requests[-1], content)
        brain.replies = [Reply("", [Call("back", "read_tool_output", {"handle": handle})])]
        await bench.say("Show it again.")
        assert double.rejections == []
        assert holds(double.requests[-1], content)


async def test_a_document_of_300_kb_stays_in_a_window_of_32000(provider, tmp_path, monkeypatch):
    with run_strict_provider(Brain([]), window=60_000) as double:
        bench = Bench(double, provider, tmp_path, monkeypatch, window=32_000)
        asked = HumanMessage([{"type": "text", "text": "What does it say?"}, block("file", REPORT)])
        await bench.graph.ainvoke({"messages": [asked]}, CONFIG)
        assert double.rejections == []
        assert holds(double.requests[-1], REPORT)
