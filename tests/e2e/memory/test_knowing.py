"""What one conversation taught is known in the user's next one, and to nobody else."""

from __future__ import annotations

from pathlib import Path

import pytest
from a2a.utils.errors import UnsupportedOperationError

from tests.e2e.agents.peers import ask
from tests.e2e.memory.house import Brain, asked, fact, house, idle, texts
from utils.testing.strict_provider import run_strict_provider

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

SAID = "I work in Zanzibar. Please look at the deploy."


async def test_a_second_conversation_knows_what_the_first_one_said_and_another_user_does_not(
    tmp_path: Path,
) -> None:
    brain = Brain(notes={"Zanzibar": [fact("I work in Zanzibar.")]})
    with run_strict_provider(brain) as double:
        async with house(tmp_path, double.environment("openai")) as service:
            ann, bob = await service.person("ann"), await service.person("bob")
            await ask(ann, SAID)
            assert "Zanzibar" not in double.requests[0].messages[0].text
            await idle()
            assert await texts(ann) == ["I work in Zanzibar."]
            seen = len(double.requests)
            await ask(ann, "Where do I work?")
            system = double.requests[seen].messages[0].text
            assert "<memory>\n- 2" in system
            assert "I work in Zanzibar." in system
            await idle()
            seen = len(double.requests)
            await ask(bob, "Where do I work?")
            assert "Zanzibar" not in str(double.requests[seen].messages)
            await idle()
            assert "Zanzibar" not in str(await asked(bob, action="list"))
        assert double.rejections == []
