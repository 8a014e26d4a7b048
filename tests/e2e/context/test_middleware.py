"""Agents on the real clients of OpenAI and Bedrock, against a provider that refuses what they refuse."""

import json
from typing import Any

import pytest
import tiktoken
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt
from structlog.testing import capture_logs

from utils.a2a_common.graph.model.turn_limits import ModelCallLimit, recursion_limit
from utils.context.factory import default_context_middleware
from utils.context.settings import ContextSettings
from utils.events import ContextCompacted, ContextMeasured, RuleChanged, Usage, UsageReported
from utils.llm.factory import create_chat_model
from utils.messages import counter
from utils.messages.tokens import count_message_tokens
from utils.persistence.artifacts import SqliteArtifactStore
from utils.settings import LLMSettings
from utils.testing.strict import counting
from utils.testing.strict_provider import Call, Fault, Reply, run_strict_provider

CONFIG: RunnableConfig = {"configurable": {"thread_id": "t1"}}
LOG = "begin\n" + "2026-11-21 step ok\n" * 4_000 + "ERROR: disk full"


@tool
async def get_log(number: int) -> str:
    """Read a log."""
    return LOG


@tool
async def get_value(number: int) -> str:
    """Read a value."""
    return f"value {number} of the service " * 120


@tool
async def ask_user(question: str) -> str:
    """Ask the user."""
    return str(interrupt(question))


class Brain:
    """Plays a script of replies, and writes a summary whenever it is asked for one."""

    def __init__(self, replies, summary="Summary: the deploy failed at step 9."):
        self.replies = list(replies)
        self.summary = summary
        self.summaries = 0

    def __call__(self, request):
        if "Write the summary alone" in request.messages[-1].text:
            self.summaries += 1
            return Reply(self.summary)
        return self.replies.pop(0) if self.replies else Reply("Done.")


def call(name, number, **arguments):
    return Reply("", [Call(f"c{number}", name, arguments or {"number": int(str(number).strip("ab"))})])


class Bench:
    """One agent with context management against one double."""

    def __init__(
        self, double, provider, tmp_path, monkeypatch, *, window=None, tools=(get_log, get_value), **settings
    ):
        environ = double.environment(provider)
        for name, value in environ.items():
            if name.startswith("AWS_"):
                monkeypatch.setenv(name, value)
        llm = LLMSettings.load(environ)
        self.double = double
        self.measured: ContextMeasured | None = None
        self.model = create_chat_model(llm)
        context = ContextSettings.load({"MAX_CONTEXT_TOKENS": str(window or double.window), **settings})
        self.context = default_context_middleware(
            llm, context, self.model, SqliteArtifactStore(tmp_path / "artifacts.db")
        )
        self.graph = create_agent(
            self.model,
            list(tools),
            system_prompt="You help.",
            middleware=[self.context, ModelCallLimit(context.model_calls_per_turn)],
            checkpointer=InMemorySaver(),
        )

    async def say(self, text):
        events: list[Any] = []
        words: list[str] = []
        part: Any
        given: Any = text if isinstance(text, Command) else {"messages": [("user", text)]}
        async for mode, part in self.graph.astream(given, CONFIG, stream_mode=["custom", "messages"]):
            if isinstance(part, ContextMeasured):
                self.measured = part
            elif mode == "custom":
                events.append(part)
            elif isinstance(part[0], AIMessage) and part[1]["langgraph_node"] == "model":
                words.append(str(part[0].text))
        return "".join(words), events

    async def state(self):
        return (await self.graph.aget_state(CONFIG)).values


@pytest.fixture(params=["openai", "aws-bedrock"])
def provider(request):
    return request.param


async def test_a_long_conversation_is_never_refused_and_its_summary_is_not_part_of_an_answer(
    provider, tmp_path, monkeypatch
):
    replies = [
        r
        for n in range(10)
        for r in (
            call("get_value", f"{n}a"),
            call("get_log", f"{n}b"),
            Reply(f"Answer {n}."),
        )
    ]
    brain = Brain(replies)
    with run_strict_provider(brain, window=9_000) as double:
        bench = Bench(double, provider, tmp_path, monkeypatch)
        spent = Usage()
        with capture_logs() as logs:
            for number in range(10):
                text, events = await bench.say(f"Question {number}? Never touch production.")
                assert text == f"Answer {number}."
                assert all(
                    isinstance(event, ContextCompacted | RuleChanged | UsageReported) for event in events
                )
                spent += sum(
                    (e.by_agent["summaries"] for e in events if isinstance(e, UsageReported)), Usage()
                )
        assert double.rejections == []
        summaries = [r for r in double.requests if "Write the summary alone" in r.messages[-1].text]
        assert spent.input_tokens == sum(r.tokens for r in summaries) > 0
        assert brain.summaries >= 1
        messages = [entry.get("message", "") for entry in logs]
        assert any(m.startswith("Summarizing ") and m.endswith(" messages with LangMem") for m in messages)
        last = double.requests[-1]
        assert last.messages[0].text.startswith("You help.")
        assert "- Never touch production." in last.messages[0].text
        assert "the deploy failed at step 9" in last.messages[0].text
        state = await bench.state()
        assert [m.content for m in state["messages"] if isinstance(m, HumanMessage)] == [
            f"Question {n}? Never touch production." for n in range(10)
        ]


async def test_the_preflight_runs_before_every_request_also_deep_inside_one_turn(
    provider, tmp_path, monkeypatch
):
    brain = Brain([call("get_value", n) for n in range(20)])
    with run_strict_provider(brain, window=6_000) as double:
        bench = Bench(double, provider, tmp_path, monkeypatch)
        text, events = await bench.say("Find the value.")
        assert text == "Done."
        assert events
        assert double.rejections == []
        agents = [r for r in double.requests if r.tools]
        assert len(agents) == 21
        assert all("Find the value." in [m.text for m in r.messages if m.role == "user"] for r in agents)


async def test_a_truncated_log_keeps_its_end_and_is_read_back_by_its_handle(provider, tmp_path, monkeypatch):
    with run_strict_provider(Brain([call("get_log", 1)]), window=30_000) as double:
        bench = Bench(double, provider, tmp_path, monkeypatch)
        await bench.say("Why did it fail?")
        first, second = double.requests
        assert {t.name for t in first.tools} == {"get_log", "get_value", "read_tool_output", "recall"}
        assert second.tools == first.tools, "a change of the tools would empty the provider's prompt cache"
        shown = second.messages[-1].text
        assert (shown[:5], shown[-16:]) == ("begin", "ERROR: disk full")
        assert len(shown) <= 10_000
        handle = next(word for word in shown.split('"') if word.startswith("art_"))
        double.brain = Brain(
            [Reply("", [Call("r1", "read_tool_output", {"handle": handle, "grep": "ERROR"})])]
        )
        await bench.say("Look for the error.")
        assert double.requests[-1].messages[-1].text.startswith("4002: ERROR: disk full")
        assert double.rejections == []


@pytest.mark.long
async def test_recall_searches_what_is_no_longer_shown(tmp_path, monkeypatch):
    replies = [
        r for n in range(36) for r in (call("get_value", n), Reply(f"Service-{n} runs on host-{n * 7}."))
    ]
    with run_strict_provider(Brain(replies), window=4_000) as double:
        bench = Bench(double, "openai", tmp_path, monkeypatch)
        for number in range(36):
            await bench.say(f"Where does service-{number} run?")
        assert all("host-7." not in m.text for m in double.requests[-1].messages)
        double.brain = Brain([Reply("", [Call("r1", "recall", {"query": "service-1 host"})])])
        await bench.say("Where did service-1 run?")
        assert "Service-1 runs on host-7." in double.requests[-1].messages[-1].text
        assert double.rejections == []


async def test_an_interrupted_call_is_repaired_beside_its_answered_siblings(provider, tmp_path, monkeypatch):
    with run_strict_provider(Brain([]), window=30_000) as double:
        bench = Bench(double, provider, tmp_path, monkeypatch)
        asked = [{"name": "get_value", "args": {"number": n}, "id": f"c{n}"} for n in range(3)]
        history = [
            HumanMessage("go"),
            AIMessage("", tool_calls=asked),
            ToolMessage("zero", tool_call_id="c0"),
            ToolMessage("two", tool_call_id="c2"),
        ]
        await bench.graph.aupdate_state(CONFIG, {"messages": history}, as_node="tools")
        with capture_logs() as logs:
            await bench.say("And now?")
        assert double.rejections == []
        results = [m.text for m in double.requests[-1].messages if m.role == "tool"]
        assert results == ["zero", "Tool interrupted", "two"]
        assert any("synthetic ToolMessages" in entry.get("message", "") for entry in logs)


async def test_a_request_that_the_provider_finds_too_long_is_sent_once_more_with_less(
    provider, tmp_path, monkeypatch
):
    replies = [r for n in range(6) for r in (call("get_value", n), Reply(f"Answer {n}."))]
    with run_strict_provider(Brain(replies), window=100_000) as double:
        bench = Bench(double, provider, tmp_path, monkeypatch)
        for number in range(6):
            await bench.say(f"Question {number}?")
        double.window = 3_000
        text, events = await bench.say("And now?")
        assert text == "Done."
        assert events
        assert [r.rule for r in double.rejections] == ["window"]
        await bench.say("Once more?")
        assert len(double.rejections) == 1


@pytest.mark.long
async def test_without_an_answering_summariser_an_extract_stands_for_the_past(tmp_path, monkeypatch):
    replies = [r for n in range(36) for r in (call("get_value", n), Reply(f"Service-{n} runs on host-{n}."))]

    class Down(Brain):
        def __call__(self, request):
            if "Write the summary alone" in request.messages[-1].text:
                return Fault.refusing("This model does not summarise.")
            return super().__call__(request)

    with run_strict_provider(Down(replies), window=4_000) as double:
        bench = Bench(double, "openai", tmp_path, monkeypatch)
        for number in range(36):
            assert (await bench.say(f"Where does service-{number} run?"))[
                0
            ] == f"Service-{number} runs on host-{number}."
        assert "Service-" in double.requests[-1].messages[0].text
        assert double.rejections == []


async def test_estimate_and_reported_usage_agree_within_two_percent_on_a_foreign_tokeniser(
    tmp_path, monkeypatch
):
    foreign = tiktoken.get_encoding("cl100k_base")
    monkeypatch.setattr(counting, "_encoder", lambda: foreign)
    replies = [r for n in range(10) for r in (call("get_value", n), Reply(f"Answer {n}: it is as it was."))]
    with run_strict_provider(Brain(replies), window=60_000) as double:
        bench = Bench(double, "aws-bedrock", tmp_path, monkeypatch)
        errors = []
        for number in range(10):
            before = (await bench.state()).get("messages", [])
            await bench.say(f"Question {number}: how is service {number}?")
            said = [m for m in (await bench.state())["messages"][len(before) :] if isinstance(m, AIMessage)]
            if before:
                ratio = _ratio(before)
                errors += [
                    m.response_metadata["counted_tokens"] * ratio / m.usage_metadata["input_tokens"]
                    for m in said[:1]
                    if m.usage_metadata
                ]
        assert len(errors) == 9
        assert all(0.99 <= error <= 1.02 for error in errors)


def _ratio(messages):
    from utils.messages.counter import calibrate

    return calibrate(messages, "aws-bedrock").ratio


async def test_a_turn_ends_after_its_model_calls_with_what_was_found_and_never_with_an_exception(
    provider, tmp_path, monkeypatch
):
    with run_strict_provider(Brain([call("get_value", n) for n in range(99)]), window=60_000) as double:
        bench = Bench(double, provider, tmp_path, monkeypatch, MAX_MODEL_CALLS_PER_TURN="5")
        config: RunnableConfig = {**CONFIG, "recursion_limit": recursion_limit(5)}
        state = await bench.graph.ainvoke({"messages": [HumanMessage("Find it.")]}, config)
        assert len(double.requests) == 5
        assert state["messages"][-1].content.startswith("I stopped after 5 steps")
        assert "value 4 of the service" in state["messages"][-1].content
        assert "Model call limits exceeded" not in state["messages"][-1].content
        double.brain = Brain([])
        assert (await bench.say("Go on."))[0] == "Done."


async def test_the_count_of_model_calls_survives_a_question_to_the_user(tmp_path, monkeypatch):
    replies = [
        call("get_value", 0),
        call("ask_user", 1, question="Which?"),
        *(call("get_value", n) for n in range(2, 99)),
    ]
    with run_strict_provider(Brain(replies), window=60_000) as double:
        bench = Bench(
            double, "openai", tmp_path, monkeypatch, tools=(get_value, ask_user), MAX_MODEL_CALLS_PER_TURN="4"
        )
        await bench.say("Find it.")
        assert len(double.requests) == 2
        text, _ = await bench.say(Command(resume="The second."))
        assert len(double.requests) == 4
        assert text.startswith("I stopped after 4 steps")


async def test_the_check_before_a_turn_writes_the_summary_into_the_state_and_logs_it(tmp_path, monkeypatch):
    talk = [
        m
        for n in range(60)
        for m in (HumanMessage(f"Question {n}? " * 20), AIMessage(f"Service-{n} is fine. " * 20))
    ]
    with run_strict_provider(Brain([]), window=8_000) as double:
        bench = Bench(double, "openai", tmp_path, monkeypatch)
        await bench.graph.aupdate_state(CONFIG, {"messages": talk}, as_node="model")
        values = await bench.state()
        with capture_logs() as logs:
            update = await bench.context.preflight(
                values, [HumanMessage("And now?")], system=None, scope="t1"
            )
        assert update is not None
        json.dumps(update)
        messages = [entry.get("message", "") for entry in logs]
        assert any(m.startswith("Pre-flight check detected") for m in messages)
        assert any(m.startswith("Summarizing") for m in messages)
        await bench.graph.aupdate_state(CONFIG, update, as_node="model")
        _, events = await bench.say("And now?")
        assert events == []
        assert "the deploy failed at step 9" in double.requests[-1].messages[0].text
        assert len((await bench.state())["messages"]) == len(talk) + 2
        assert await bench.context.preflight({}, [HumanMessage("Hi")], system=None, scope="t1") is None


async def test_a_cleared_conversation_starts_anew(tmp_path, monkeypatch):
    with run_strict_provider(Brain([]), window=8_000) as double:
        bench = Bench(double, "openai", tmp_path, monkeypatch)
        await bench.say("Never touch production.")
        gone = [RemoveMessage(m.id) for m in (await bench.state())["messages"]]
        await bench.graph.aupdate_state(CONFIG, {"messages": gone, "compaction": {}}, as_node="model")
        await bench.say("Hello?")
        assert [m.text for m in double.requests[-1].messages] == ["You help.", "Hello?"]


async def test_of_a_long_conversation_only_what_is_new_is_counted_again(tmp_path, monkeypatch):
    tokenised: list[Any] = []

    def counted(message, encoding, charges):
        tokenised.append(message)
        return count_message_tokens(message, encoding, charges)

    monkeypatch.setattr(counter, "count_message_tokens", counted)
    talk = [m for n in range(100) for m in (HumanMessage(f"Question {n}?"), AIMessage(f"It is {n}."))]
    replies = [
        r
        for turn in range(2)
        for r in (call("get_value", f"{turn}a"), call("get_value", f"{turn}b"), Reply("So."))
    ]
    with run_strict_provider(Brain(replies), window=60_000) as double:
        bench = Bench(double, "openai", tmp_path, monkeypatch)
        await bench.graph.aupdate_state(CONFIG, {"messages": talk}, as_node="model")
        await bench.say("What is new?")
        assert len(tokenised) >= len(talk)
        tokenised.clear()
        await bench.say("And now?")
        assert len(double.requests) == 6
        assert [message.type for message in tokenised] == ["ai", "human", "ai", "tool", "ai", "tool"]
