"""A conversation that is cleared begins anew at the sub-agents too."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.agents.peers import ask, connected
from tests.e2e.context.test_clearing import clear
from tests.e2e.delegation.teams import team
from utils.a2a_common.protocol.extensions import CONTEXT_EXTENSION
from utils.a2a_common.server import card as cards
from utils.persistence.contexts import Person, RemoteContexts
from utils.testing.scripted_model import call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

SCRIPT = [
    calls(call("words", request="The city of the user is Lyon.")),
    "Noted.",
    calls(call("words", request="Which city is the user in?")),
    "I do not know.",
]


async def test_a_cleared_conversation_is_gone_at_the_sub_agents_and_goes_on_in_a_new_one() -> None:
    async with team(SCRIPT, words=["Noted.", "No city."]) as it, connected(it.url) as client:
        first = await ask(client, "My city is Lyon.")
        await clear(client, first.context_id)
        answer = await ask(client, "Which city is mine?", context_id=first.context_id)
        tasks = await it.tasks("words")
    assert answer.text == "I do not know."
    before, cleared, after = tasks
    assert before.context_id == cleared.context_id != after.context_id
    assert [m.type for m in it.models["words"].requests[-1].messages] == ["system", "human"]
    assert "Lyon" not in str(it.models["words"].requests[-1].messages)
    assert len(it.models["words"].requests) == 2


async def test_an_agent_that_cannot_forget_is_given_a_new_conversation(monkeypatch) -> None:
    told = {uri: text for uri, text in cards._EXTENSIONS.items() if uri != CONTEXT_EXTENSION}
    monkeypatch.setattr(cards, "_EXTENSIONS", told)
    async with team(SCRIPT, words=["Noted.", "No city."]) as it, connected(it.url) as client:
        first = await ask(client, "My city is Lyon.")
        await clear(client, first.context_id)
        await ask(client, "Which city is mine?", context_id=first.context_id)
        tasks = await it.tasks("words")
    before, after = tasks
    assert before.context_id != after.context_id
    assert "Lyon" not in str(it.models["words"].requests[-1].messages)


async def test_clearing_twice_never_leads_back_to_a_conversation_that_was_cleared(tmp_path: Path) -> None:
    contexts = RemoteContexts(tmp_path / "contexts.sqlite")
    await contexts.open()
    seen = []
    for _ in range(3):
        seen.append(await contexts.use("t", "words", Person()))
        assert await contexts.clear("t") == {"words": seen[-1]}
    assert len({*seen, await contexts.use("t", "words", Person())}) == 4
    assert await contexts.clear("other") == {}
    other = await contexts.use("other", "words", Person())
    assert await contexts.use("other", "words", Person()) == other
    await contexts.close()
