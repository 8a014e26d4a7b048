"""Answers that are cut off, filtered, written as text or full of thoughts: every provider's client, real HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from a2a.client import Client
from langchain_core.tools import BaseTool, tool
from structlog.testing import capture_logs

from tests.e2e.agents.peers import Answer, ask, connected
from tests.e2e.resilience.desk import PROVIDERS, QUICK
from tests.rows import mostly_long
from utils.a2a_common import BaseLangGraphAgent
from utils.a2a_common.protocol.extensions import ACTIVITY_EXTENSION, ERROR_EXTENSION
from utils.testing.live_agent import running_agent
from utils.testing.strict_provider import Call, ChatRequest, Reply, StrictProvider

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

LENGTH = {"aws-bedrock": "max_tokens"}
FILTER = {"aws-bedrock": "content_filtered"}


def append(book: Path, line: str) -> None:
    with book.open("a") as file:
        file.write(f"{line}\n")


class Scribe(BaseLangGraphAgent):
    """Writes down each line that it is given, so that a test sees what was run."""

    name = "scribe"
    description = "Writes lines."

    async def tools(self) -> Sequence[BaseTool]:
        book = self.runtime.home / "book"

        @tool
        async def write(line: str) -> str:
            """Writes a line."""
            await asyncio.to_thread(append, book, line)
            return f"wrote {line}"

        return [write]


@asynccontextmanager
async def scribe(double: StrictProvider, provider: str, home: Path, **environ: str) -> AsyncIterator[Client]:
    settings = {**double.environment(provider), **QUICK, **environ}
    async with running_agent(Scribe, environ=settings, home=home) as url, connected(url) as client:
        yield client


@pytest.fixture
def book(tmp_path: Path) -> Callable[[], list[str]]:
    def lines() -> list[str]:
        path = tmp_path / "scribe" / "book"
        return path.read_text().splitlines() if path.exists() else []

    return lines


def codes(answer: Answer) -> list[str]:
    return [each["code"] for each in answer.metadata(ERROR_EXTENSION)]


def retried(answer: Answer) -> list[str]:
    return [each["reason"] for each in answer.metadata(ACTIVITY_EXTENSION) if each["kind"] == "model_retried"]


def first_then(*first: Reply, last: str = "Done.") -> Callable[[ChatRequest], Reply]:
    """A brain that gives these replies, and then a text."""
    replies = list(first)
    return lambda _request: replies.pop(0) if replies else Reply(last)


def writes(line: str, **more: object) -> Reply:
    return Reply("", [Call("c1", "write", {"line": line})], **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("provider", mostly_long(PROVIDERS, 3))
async def test_a_call_that_the_limit_cut_off_is_never_run_and_asked_for_again(
    double: StrictProvider, provider: str, tmp_path: Path, book: Callable[[], list[str]]
) -> None:
    cut = writes("Close the first twenty issues", cut=8, reason=LENGTH.get(provider, "length"))
    double.reset(first_then(cut, writes("Close issue 1")))
    async with scribe(double, provider, tmp_path) as client:
        answer = await ask(client, "write")
    assert book() == ["Close issue 1"]
    assert (answer.state, answer.text) == ("completed", "Done.")
    assert retried(answer) == ["answer_cut"]
    assert "cut off" in double.requests[1].messages[0].text
    assert "cut off" not in double.requests[2].messages[0].text
    assert double.rejections == []


@pytest.mark.parametrize("provider", mostly_long(PROVIDERS, 3))
async def test_arguments_that_are_cut_off_without_a_word_are_not_run_either(
    double: StrictProvider, provider: str, tmp_path: Path, book: Callable[[], list[str]]
) -> None:
    double.reset(first_then(writes("Close the first twenty issues", cut=8), writes("Close issue 1")))
    async with scribe(double, provider, tmp_path) as client:
        answer = await ask(client, "write")
    assert book() == ["Close issue 1"]
    assert answer.state == "completed"


async def test_of_several_calls_none_is_run_where_the_last_is_cut_off(
    double: StrictProvider, tmp_path: Path, book: Callable[[], list[str]]
) -> None:
    two = [Call("c1", "write", {"line": "first"}), Call("c2", "write", {"line": "second line"})]
    double.reset(first_then(Reply("", two, cut=6, reason="length")))
    async with scribe(double, "openai-compatible", tmp_path) as client:
        answer = await ask(client, "write")
    assert book() == []
    assert answer.text == "Done."


@pytest.mark.parametrize("provider", mostly_long(PROVIDERS, 3))
async def test_a_call_that_is_cut_off_twice_fails_and_names_the_setting(
    double: StrictProvider, provider: str, tmp_path: Path, book: Callable[[], list[str]]
) -> None:
    cut = writes("a long line", cut=4, reason=LENGTH.get(provider, "length"))
    double.reset(first_then(cut, cut))
    async with scribe(double, provider, tmp_path) as client:
        answer = await ask(client, "write")
        next_one = await ask(client, "again", context_id=answer.context_id)
    assert (answer.state, codes(answer), book()) == ("failed", ["answer_cut"], [])
    assert "LLM_MAX_OUTPUT_TOKENS" in answer.metadata(ERROR_EXTENSION)[0]["message"]
    assert next_one.text == "Done."
    assert double.rejections == []


@pytest.mark.parametrize("provider", mostly_long(PROVIDERS, 3))
async def test_an_answer_that_the_limit_cut_off_says_so(
    double: StrictProvider, provider: str, tmp_path: Path
) -> None:
    double.reset(first_then(Reply("The next thing that you must never do is " + "wait " * 200)))
    async with scribe(double, provider, tmp_path, LLM_MAX_OUTPUT_TOKENS="20") as client:
        answer = await ask(client, "what now?")
    assert (answer.state, codes(answer)) == ("completed", ["answer_cut"])
    assert answer.text.startswith("The next thing that you must never do is")
    assert answer.text.endswith("> " + answer.metadata(ERROR_EXTENSION)[0]["message"])


@pytest.mark.parametrize("provider", mostly_long(PROVIDERS, 3))
async def test_a_filtered_answer_says_so(double: StrictProvider, provider: str, tmp_path: Path) -> None:
    reason = FILTER.get(provider, "content_filter")
    double.reset(first_then(Reply("Sorry", reason=reason), writes("x", reason=reason)))
    async with scribe(double, provider, tmp_path) as client:
        part = await ask(client, "what now?")
        none = await ask(client, "what now?")
    assert (part.state, codes(part)) == ("completed", ["content_filtered"])
    assert part.text.startswith("Sorry\n\n> ")
    assert "content filter" in part.text
    assert (none.state, codes(none)) == ("failed", ["content_filtered"])


CALL = '{"name": "write", "arguments": {"line": "a\\nb"}}'
WRITTEN = {
    "fence": f"```json\n{CALL}\n```",
    "tool_call": f"<tool_call>\n{CALL}\n</tool_call>",
    "tools": f"<tools>{CALL}</tools>",
    "bare": CALL,
    "parameters": '{"name": "write", "parameters": {"line": "a\\nb"}}',
    "dotted": '{"name": "functions.write", "arguments": {"line": "a\\nb"}}',
    "function": '{"type": "function", "function": {"name": "write", "arguments": "{\\"line\\": \\"a\\\\nb\\"}"}}',
    "after thoughts": f"<think>\nI shall write.\n</think>\n\n<tool_call>\n{CALL}\n</tool_call>",
}


@pytest.mark.parametrize("provider", ["openai-compatible", "aws-bedrock"])
@pytest.mark.parametrize("form", mostly_long(WRITTEN, 3))
async def test_a_call_that_is_written_as_text_is_made_and_never_shown(
    double: StrictProvider, provider: str, form: str, tmp_path: Path, book: Callable[[], list[str]]
) -> None:
    text = WRITTEN[form]
    double.reset(first_then(Reply(chunks=[text[at : at + 3] for at in range(0, len(text), 3)])))
    with capture_logs() as logs:
        async with scribe(double, provider, tmp_path) as client:
            answer = await ask(client, "write")
    assert book() == ["a", "b"]
    assert "".join(chunk for _, _, chunk in answer.chunks) == "Done."
    assert double.requests[-1].messages[-2].text.strip() == ""
    assert double.rejections == []
    assert [line["calls"] for line in logs if line["event"] == "model.call_in_text"] == [1]


@pytest.mark.parametrize(
    "text",
    ['{"name": "write", "arguments": {"line": "x}}', "<tools><function=write>x</function></tools>"],
)
async def test_a_call_that_cannot_be_read_is_asked_for_again_and_then_fails(
    double: StrictProvider, text: str, tmp_path: Path, book: Callable[[], list[str]]
) -> None:
    double.reset(first_then(Reply(text), Reply(text), Reply(text), writes("y")))
    async with scribe(double, "openai-compatible", tmp_path) as client:
        failed = await ask(client, "write")
        mended = await ask(client, "write", context_id=failed.context_id)
    assert (failed.state, codes(failed)) == ("failed", ["tool_call_unreadable"])
    assert failed.chunks == []
    assert (mended.text, book()) == ("Done.", ["y"])


@pytest.mark.parametrize(
    "text",
    [
        f"A call looks like this:\n```json\n{CALL}\n```",
        f"```xml\n<tool_call>{CALL}</tool_call>\n```\nThat is the form.",
        '```json\n{"replicas": 3}\n```',
        '{"name": "write", "stars": 5}',
        '{"name": "elsewhere", "arguments": {}}',
        "[The docs](https://example.org) say so.",
        "<b>No.</b>",
        "The tag <think> opens a thought, </think>\ncloses it.",
    ],
)
async def test_a_text_that_only_mentions_a_call_or_a_thought_stays_text(
    double: StrictProvider, text: str, tmp_path: Path, book: Callable[[], list[str]]
) -> None:
    double.reset(first_then(Reply(chunks=[text[at : at + 3] for at in range(0, len(text), 3)])))
    async with scribe(double, "openai-compatible", tmp_path) as client:
        answer = await ask(client, "explain")
    assert (answer.state, answer.text, book()) == ("completed", text, [])


@pytest.mark.parametrize("provider", ["openai-compatible", "aws-bedrock"])
@pytest.mark.parametrize("tag", ["think", "thinking"])
async def test_thoughts_are_neither_shown_nor_kept(
    double: StrictProvider, provider: str, tag: str, tmp_path: Path
) -> None:
    text = f"<{tag}>\nThe user is wrong. {{}}\n</{tag}>\n\nYou are right."
    double.reset(first_then(Reply(chunks=[text[at : at + 3] for at in range(0, len(text), 3)])))
    async with scribe(double, provider, tmp_path) as client:
        answer = await ask(client, "am I right?")
        await ask(client, "sure?", context_id=answer.context_id)
    assert "".join(chunk for _, _, chunk in answer.chunks) == "You are right."
    assert "wrong" not in str(double.requests[-1].body)


async def test_thoughts_whose_beginning_the_template_wrote_are_replaced_and_not_kept(
    double: StrictProvider, tmp_path: Path
) -> None:
    double.reset(first_then(Reply(chunks=["The user is ", "wrong.\n</th", "ink>\n", "\nYou are ", "right."])))
    async with scribe(double, "openai-compatible", tmp_path) as client:
        answer = await ask(client, "am I right?")
        await ask(client, "sure?", context_id=answer.context_id)
    assert (answer.state, answer.text) == ("completed", "You are right.")
    assert "wrong" not in str(double.requests[-1].body)


async def test_a_model_that_thinks_until_the_limit_fails_and_names_the_setting(
    double: StrictProvider, tmp_path: Path
) -> None:
    endless = Reply("<think>\n" + "hm " * 300)
    double.reset(first_then(endless, endless))
    async with scribe(double, "openai-compatible", tmp_path, LLM_MAX_OUTPUT_TOKENS="50") as client:
        answer = await ask(client, "am I right?")
    assert (answer.state, codes(answer), answer.chunks) == ("failed", ["answer_cut"], [])
    assert "LLM_MAX_OUTPUT_TOKENS" in answer.metadata(ERROR_EXTENSION)[0]["message"]


async def test_an_ordinary_answer_is_shown_as_it_comes(double: StrictProvider, tmp_path: Path) -> None:
    double.reset(first_then(Reply("word " * 400)))
    async with scribe(double, "openai-compatible", tmp_path) as client:
        answer = await ask(client, "am I right?")
    assert len(answer.chunks) > 1
