"""What an operator can choose, on the real clients against a provider that refuses what they refuse."""

import asyncio
import threading

import pytest

from tests.e2e.agents.peers import Keys, ask, connected
from tests.e2e.context.test_middleware import Bench, Brain, call
from utils.testing.live_agent import running_agent
from utils.testing.strict_provider import Reply, run_strict_provider

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")


@pytest.mark.parametrize("provider", ["openai", "aws-bedrock"])
async def test_a_model_that_ignores_the_system_role_is_told_by_its_user_too(provider, tmp_path, monkeypatch):
    replies = [r for n in range(8) for r in (call("get_value", n), Reply(f"Answer {n}."))]
    with run_strict_provider(Brain(replies), window=6_000) as double:
        bench = Bench(double, provider, tmp_path, monkeypatch, LLM_SYSTEM_AS_USER="true")
        for number in range(8):
            assert (await bench.say(f"Question {number}?"))[0] == f"Answer {number}."
        assert double.rejections == []
        for request in (each for each in double.requests if each.tools):
            told = [m.text for m in request.messages if m.role == "user" and "You help." in m.text]
            assert len(told) == 1
            assert told[0].startswith(request.messages[0].text)
        assert [m for m in (await bench.state())["messages"] if "You help." in str(m.content)] == []


class Tidy(Keys):
    """An agent with an instruction of its own for summaries."""

    summary_prompt = "Write down in {words} words what Tidy should know."


def summaries(double):
    return [
        r.messages[-1].text
        for r in double.requests
        if "what Tidy" in r.messages[-1].text or "OPERATOR" in r.messages[-1].text
    ]


def last_turn(double):
    """The last request of a turn; a summary may be asked for after the last answer."""
    return next(r for r in reversed(double.requests) if r.messages[-1].text not in summaries(double))


class Scribe:
    """Writes summaries and short answers.

    Attributes:
        asked: Set when a summary was asked for, which happens behind an answer.
    """

    def __init__(self):
        self.asked = threading.Event()

    def __call__(self, request):
        asked = request.messages[-1].text
        if "what Tidy" in asked or "OPERATOR" in asked or "Write the summary alone" in asked:
            self.asked.set()
            return Reply("The user counts sheep.")
        return Reply("Noted. " * 60)


async def talk_long(double, scribe, environ):
    """Until a summary was written, and the next turn shows it."""
    settings = double.environment("openai") | {"MAX_CONTEXT_TOKENS": str(double.window)} | environ
    async with running_agent(Tidy, environ=settings) as url, connected(url) as client:
        context = ""
        for number in range(40):
            answer = await ask(client, f"Sheep {number}: " + "baa " * 100, context_id=context)
            context = answer.context_id
            assert answer.state == "completed"
            if "The user counts sheep." in last_turn(double).messages[0].text:
                return
            if number > 12:
                assert await asyncio.to_thread(scribe.asked.wait, 60)
    raise AssertionError("no turn showed a summary")


@pytest.mark.long
async def test_an_agent_can_say_how_its_conversations_are_summarised_and_the_operator_before_it(tmp_path):
    with run_strict_provider(scribe := Scribe(), window=3_000) as double:
        await talk_long(double, scribe, {})
        assert summaries(double)
        assert all("Write down in" in text and "{words}" not in text for text in summaries(double))
    file = tmp_path / "prompt.txt"
    file.write_text("OPERATOR: {words} words, as {JSON}.\n")
    with run_strict_provider(scribe := Scribe(), window=3_000) as double:
        await talk_long(double, scribe, {"CONTEXT_SUMMARY_PROMPT_FILE": str(file)})
        assert summaries(double)
        assert all("OPERATOR: " in text and "as {JSON}." in text for text in summaries(double))
