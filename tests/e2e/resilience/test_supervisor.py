"""The supervisor after the errors that ended the conversations of its predecessor."""

from __future__ import annotations

import pytest

from tests.e2e.agents.peers import Keys, ask, connected
from tests.e2e.delegation.teams import model, supervising
from tests.e2e.resilience.desk import QUICK, by_request
from tests.e2e.resilience.test_recovery import ORPHANS, retried
from utils.testing.live_agent import running_agent
from utils.testing.strict_provider import Fault, StrictProvider

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")


@pytest.mark.parametrize("provider", ["openai", "aws-bedrock"])
async def test_after_an_orphan_and_an_overflow_the_supervisor_answers_and_knows_the_conversation(
    double: StrictProvider, provider: str
) -> None:
    double.reset(by_request)
    code = "ValidationException" if provider == "aws-bedrock" else None
    environ = {**double.environment(provider), **QUICK, "CONTEXT_PINS_BY_MODEL": "false"}
    async with (
        running_agent(Keys, model=model([])) as keys,
        supervising({"keys": keys}, None, environ) as url,
        connected(url) as client,
    ):
        first = await ask(client, "I am Ada")
        double.fail_next(Fault.refusing(ORPHANS[provider], 400, code))
        orphan = await ask(client, "one", context_id=first.context_id)
        double.fail_next(Fault.refusing("Input is too long for requested model.", 400, code))
        overflow = await ask(client, "two", context_id=first.context_id)
        last = await ask(client, "three", context_id=first.context_id)
    assert retried(orphan) == ["orphaned_tool_call"]
    assert [answer.state for answer in (first, orphan, overflow, last)] == ["completed"] * 4
    assert last.text.replace("\n", " ") == "You said: I am Ada / one / two / three"
    assert double.rejections == []
