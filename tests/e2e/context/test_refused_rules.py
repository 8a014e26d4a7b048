"""A rule that a user added and that a model provider refuses does not hold up the conversation: the real clients of every provider."""

import pytest

from tests.e2e.agents.peers import connected
from tests.e2e.context.test_refused_material import (
    BROKEN,
    CANNOT,
    FILTERS,
    PROVIDERS,
    Brain,
    Camera,
    Talk,
    holds,
    words_of,
)
from tests.e2e.context.test_rules_told import rules, told
from utils.a2a_common.protocol.rules import RULES_EXTENSION, RulesRequest
from utils.testing.live_agent import running_agent
from utils.testing.strict_provider import run_strict_provider

GOOD, BAD = "Never touch production.", "Always end with badword."
LEFT_OUT = "(left out: the model provider refused it)"


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_rule_that_the_filter_refuses_is_left_out_and_the_turn_is_answered(provider, tmp_path):
    with run_strict_provider(Brain()) as double:
        double.refusing = {"badword": FILTERS[provider]}
        async with (
            running_agent(Camera, environ=double.environment(provider), home=tmp_path) as url,
            connected(url) as client,
        ):
            talk = Talk(client, double)
            assert (await talk.say(f"{GOOD} Hello.")).state == "completed"
            await rules(client, talk.context_id, RulesRequest(add=BAD))
            first = await talk.say("What is the value of 1?")
            assert (first.state, first.text) == ("completed", "I answer.")
            assert "refused your rule 2." in words_of(first)
            assert "/rules remove 2" in words_of(first)
            assert told(first) == []
            assert GOOD in talk.last_body()
            listed = await rules(client, talk.context_id, RulesRequest())
            assert listed.text.splitlines()[1:] == [f"1. {GOOD}", f"2. {BAD} {LEFT_OUT}"]
            assert listed.metadata(RULES_EXTENSION)[-1]["rules"] == [GOOD, BAD]
        async with (
            running_agent(Camera, environ=double.environment(provider), home=tmp_path) as url,
            connected(url) as client,
        ):
            later = Talk(client, double, talk.context_id)
            assert (await later.say("Go on.")).state == "completed"
        assert [talk.sent, later.sent] == [[1, 2], [1]]
        assert double.rejections == []


async def test_a_rule_that_was_left_out_is_tried_again_once_it_was_removed_and_added():
    with run_strict_provider(Brain()) as double:
        double.refusing = {"badword": FILTERS["openai"]}
        async with (
            running_agent(Camera, environ=double.environment("openai")) as url,
            connected(url) as client,
        ):
            talk = Talk(client, double, "fresh")
            await rules(client, "fresh", RulesRequest(add=BAD))
            assert "refused your rule 1." in words_of(await talk.say("What is the value of 1?"))
            await rules(client, "fresh", RulesRequest(remove="1"))
            double.refusing = {}
            listed = await rules(client, "fresh", RulesRequest(add=BAD))
            assert LEFT_OUT not in listed.text
            assert (await talk.say("Go on.")).state == "completed"
            assert BAD in talk.last_body()
        assert talk.sent == [2, 1]


async def test_a_rule_stays_where_a_message_or_a_picture_is_why_a_turn_was_refused():
    with run_strict_provider(Brain()) as double:
        double.refusing = {"badword": FILTERS["openai"], BROKEN: CANNOT["openai"]}
        async with (
            running_agent(Camera, environ=double.environment("openai")) as url,
            connected(url) as client,
        ):
            talk = Talk(client, double, "fresh")
            await rules(client, "fresh", RulesRequest(add=GOOD))
            assert (await talk.say("Say badword.")).state == "failed"
            assert (await talk.say("What is on it?", ("bad.png", BROKEN))).state == "completed"
            assert GOOD in talk.last_body()
            assert not holds(talk, BROKEN)
        assert talk.sent == [2, 2]


async def test_rules_that_another_model_accepted_are_suspected_after_a_turn_that_was_refused():
    with run_strict_provider(Brain()) as double:
        async with (
            running_agent(Camera, environ=double.environment("openai")) as url,
            connected(url) as client,
        ):
            talk = Talk(client, double, "fresh")
            await rules(client, "fresh", RulesRequest(add=GOOD))
            await rules(client, "fresh", RulesRequest(add=BAD))
            assert (await talk.say("Hello.")).state == "completed"
            double.refusing = {"badword": FILTERS["openai"]}
            assert (await talk.say("What is the value of 1?")).state == "failed"
            again = await talk.say("What is the value of 2?")
            assert again.state == "completed"
            assert "refused your rules 1 and 2, or one of them." in words_of(again)
        assert talk.sent == [1, 1, 2]
