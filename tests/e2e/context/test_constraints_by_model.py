"""What the model finds in a user's message after the answer, on the real client of OpenAI, over the wire."""

import asyncio
import threading

import pytest

from tests.e2e.agents.peers import Keys, ask, connected
from tests.e2e.context.test_clearing import clear
from utils.a2a_common.base_langgraph_agent import BaseLangGraphAgent
from utils.testing.live_agent import running_agent
from utils.testing.strict_provider import Fault, Reply, run_strict_provider

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

SAID = "Fridays are for shipping. Please look at the deploy."
FOUND = '{"quotes": ["Fridays are for shipping.", "We never ship on Mondays."]}'
PINNED = "- Fridays are for shipping."


class Brain:
    """Answers a user at once, and a question about a message as told, when it may."""

    def __init__(self, found):
        self.found = found
        self.asked = threading.Event()
        self.may_answer = threading.Event()
        self.may_answer.set()

    async def __call__(self, request):
        if "<message>" not in request.messages[-1].text:
            return Reply("Done.")
        self.asked.set()
        assert await asyncio.to_thread(self.may_answer.wait, 20)
        return self.found


@pytest.fixture
def idle(monkeypatch):
    """The agents that were made, so that a test can wait for what they do in the background."""
    made = []
    original = BaseLangGraphAgent.__init__

    def init(self, runtime):
        original(self, runtime)
        made.append(self)

    monkeypatch.setattr(BaseLangGraphAgent, "__init__", init)

    async def wait():
        await asyncio.gather(*(task for agent in made for task in agent._after._tasks))

    return wait


def settings(double, provider="openai", **more):
    return double.environment(provider) | {"CONTEXT_PINS_BY_MODEL": "true"} | more


def system_of(double):
    return double.requests[-1].messages[0].text


async def test_what_the_model_finds_is_pinned_word_for_word_until_the_user_revokes_the_rule(idle):
    with run_strict_provider(Brain(Reply(FOUND))) as double:
        async with running_agent(Keys, environ=settings(double)) as url, connected(url) as client:
            first = await ask(client, SAID)
            assert PINNED not in system_of(double)
            await idle()
            question = double.requests[-1]
            assert (len(question.messages), [tool.name for tool in question.tools]) == (1, ["note_rules"])
            await ask(client, "And now?", context_id=first.context_id)
            assert PINNED in system_of(double)
            assert "Mondays" not in system_of(double)
            await ask(client, "Forget that rule.", context_id=first.context_id)
            await ask(client, "And now?", context_id=first.context_id)
            assert PINNED not in system_of(double)
            await idle()
            assert len([r for r in double.requests if "<message>" in r.messages[-1].text]) == 1
        assert double.rejections == []


async def test_no_answer_waits_for_it_and_a_shutdown_ends_it():
    brain = Brain(Reply(FOUND))
    brain.may_answer.clear()
    with run_strict_provider(brain) as double:
        try:
            async with asyncio.timeout(60):
                async with running_agent(Keys, environ=settings(double)) as url, connected(url) as client:
                    first = await ask(client, SAID)
                    assert first.state == "completed"
                    await asyncio.to_thread(brain.asked.wait, 20)
                    second = await ask(client, "And now?", context_id=first.context_id)
                    assert (second.state, second.text) == ("completed", "Done.")
        finally:
            brain.may_answer.set()


async def test_a_question_that_takes_too_long_is_given_up(idle):
    brain = Brain(Reply(FOUND))
    brain.may_answer.clear()
    with run_strict_provider(brain) as double:
        try:
            environ = settings(double, CONTEXT_PINS_SECONDS="0.2")
            async with running_agent(Keys, environ=environ) as url, connected(url) as client:
                first = await ask(client, SAID)
                await idle()
                brain.may_answer.set()
                await ask(client, "And now?", context_id=first.context_id)
                assert PINNED not in system_of(double)
        finally:
            brain.may_answer.set()


async def test_a_model_that_refuses_the_question_costs_nothing_else(idle):
    brain = Brain(Fault.refusing("No."))
    with run_strict_provider(brain) as double:
        async with running_agent(Keys, environ=settings(double)) as url, connected(url) as client:
            first = await ask(client, SAID)
            await idle()
            assert (await ask(client, "And now?", context_id=first.context_id)).text == "Done."


async def test_a_conversation_that_was_forgotten_meanwhile_stays_forgotten(idle):
    brain = Brain(Reply(FOUND))
    brain.may_answer.clear()
    with run_strict_provider(brain) as double:
        try:
            async with running_agent(Keys, environ=settings(double)) as url, connected(url) as client:
                first = await ask(client, SAID)
                await asyncio.to_thread(brain.asked.wait, 20)
                await clear(client, first.context_id)
                brain.may_answer.set()
                await idle()
                await ask(client, "And now?", context_id=first.context_id)
                assert PINNED not in system_of(double)
        finally:
            brain.may_answer.set()


async def test_a_setting_switches_it_off_and_no_message_costs_a_further_call(idle):
    with run_strict_provider(Brain(Reply(FOUND))) as double:
        environ = settings(double, CONTEXT_PINS_BY_MODEL="false")
        async with running_agent(Keys, environ=environ) as url, connected(url) as client:
            await ask(client, SAID)
            await idle()
        assert len(double.requests) == 1
