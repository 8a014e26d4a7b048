"""Standing rules as a user meets them: told when they are noted or revoked, listed and changed by request."""

from __future__ import annotations

from typing import Any

import pytest
from a2a.types.a2a_pb2 import Part
from google.protobuf import json_format, struct_pb2
from langchain_core.messages import HumanMessage

from multi_agents.cli.chat.rules import rules_of
from tests.e2e.agents.peers import Answer, Keys, ask, connected, message
from tests.property.context.oracle import finish
from utils.a2a_common.protocol.extensions import ACTIVITY_EXTENSION
from utils.a2a_common.protocol.rules import RULES_EXTENSION, RulesRequest, rules_part
from utils.context.pipeline import Parts, Request, prepare
from utils.context.policy import ContextPolicy
from utils.context.state import rule_changes
from utils.events import RuleChange, RuleChanged
from utils.messages.counter import MessageCounter
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

RULE, OTHER = "Never touch production.", "Always name the owner of a service."


async def rules(client: Any, context_id: str, asked: RulesRequest) -> Answer:
    request = message("Which rules hold?", context_id=context_id)
    value = json_format.ParseDict(rules_part(asked), struct_pb2.Value())
    request.message.parts.append(Part(data=value))
    return Answer([event async for event in client.send_message(request)])


def told(answer: Answer) -> list[tuple[str, str]]:
    payloads = answer.metadata(ACTIVITY_EXTENSION)
    return [(each["change"], each["text"]) for each in payloads if each["kind"] == "rule_changed"]


async def test_a_user_is_told_of_every_rule_that_is_noted_or_revoked_and_can_list_and_change_them() -> None:
    model = ScriptedModel(script=["Done."] * 4)
    async with running_agent(Keys, model=model) as url, connected(url) as client:
        first = await ask(client, f"{RULE} Look at the logs.")
        context = first.context_id
        assert told(first) == [("pinned", RULE)]
        assert told(await ask(client, "Look again.", context_id=context)) == []
        added = await rules(client, context, RulesRequest(add=OTHER))
        assert added.text == f"Rules that hold for this conversation:\n1. {RULE}\n2. {OTHER}"
        assert added.metadata(RULES_EXTENSION)[-1]["rules"] == [RULE, OTHER]
        removed = await rules(client, context, RulesRequest(remove="1"))
        assert removed.metadata(RULES_EXTENSION)[-1]["rules"] == [OTHER]
        assert (await rules(client, context, RulesRequest(remove="7"))).text.startswith(
            "There is no such rule."
        )
        after = await ask(client, "And now?", context_id=context)
        assert told(after) == [("pinned", OTHER), ("unpinned", RULE)]
        assert OTHER in str(model.requests[-1].messages[0].content)
        assert RULE not in str(model.requests[-1].messages[0].content)


async def test_a_conversation_without_rules_says_so_and_takes_one_before_its_first_message() -> None:
    async with running_agent(Keys, model=ScriptedModel(script=["Done."])) as url, connected(url) as client:
        listed = await rules(client, "fresh", RulesRequest())
        assert listed.text == "No rules hold for this conversation."
        added = await rules(client, "fresh", RulesRequest(add=RULE))
        assert added.metadata(RULES_EXTENSION)[-1]["rules"] == [RULE]


def test_rules_beyond_their_share_stay_readable_and_the_user_is_told() -> None:
    said = [HumanMessage(f"Never touch service number {n} of the shop.", id=f"h{n}") for n in range(200)]
    prepared = finish(prepare(Request(said), ContextPolicy(window=8_000), Parts(MessageCounter())))
    hidden = [text for text, shown in prepared.rules if not shown]
    assert len(prepared.rules) == 200
    assert hidden
    assert prepared.system is not None
    assert f"{len(hidden)} older constraints hold as well" in str(prepared.system.content)
    assert "\n".join(hidden) in prepared.artifacts.values()
    changes = rule_changes([], prepared.rules)
    assert RuleChanged(RuleChange.NOT_SHOWN, hidden[0]) in changes
    assert rule_changes([list(rule) for rule in prepared.rules], prepared.rules) == []


@pytest.mark.parametrize(
    ("line", "asked"),
    [
        ("/rules", RulesRequest()),
        ("/rules add Never touch production.", RulesRequest(add=RULE)),
        ("/rules remove 2", RulesRequest(remove="2")),
        ("/rules add", None),
        ("/rules whatever", None),
    ],
)
def test_the_command_of_the_chat_says_what_is_asked(line: str, asked: RulesRequest | None) -> None:
    assert rules_of(line.removeprefix("/rules")) == asked
