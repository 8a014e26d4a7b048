"""An agent of pydantic-ai that fasta2a serves works as a sub-agent. `make test-foreign` runs this."""

from __future__ import annotations

import pytest

from tests.e2e.agents.peers import ask, connected
from tests.e2e.delegation.teams import model, results, supervising
from tests.foreign.environments import serving
from utils.testing.scripted_model import call, calls

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_what_it_says_is_told_to_the_supervisors_model() -> None:
    script = model([calls(call("parrot", request="hello there")), "Done."])
    async with (
        serving("fasta2a", "fasta2a_agent.py") as parrot,
        supervising({"parrot": parrot}, script) as url,
        connected(url) as client,
    ):
        answer = await ask(client, "Greet")
    assert answer.state == "completed"
    assert "You said hello there" in results(script)[0]
