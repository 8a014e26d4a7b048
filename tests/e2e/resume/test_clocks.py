"""A clock that was set back, or differs between machines, costs no turn of a conversation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from langchain_core.messages import BaseMessage

from tests.clocks import another_machine
from tests.e2e.agents.peers import Keys, ask, connected
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

HOUR = 3_600.0


def heard(messages: Sequence[BaseMessage]) -> str:
    """What the model says: all that the user has said so far."""
    return ", ".join(str(each.content) for each in messages if each.type == "human")


async def test_a_conversation_keeps_every_turn_after_the_clock_was_set_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    for ahead, words in ((0.0, "one"), (2 * HOUR, "two"), (0.0, "three"), (0.0, "four")):
        another_machine(monkeypatch, ahead)
        said.append(words)
        async with (
            running_agent(Keys, home=tmp_path, model=ScriptedModel(script=heard)) as url,
            connected(url) as client,
        ):
            answer = await ask(client, words, context_id="talk")
        assert answer.text == ", ".join(said)
