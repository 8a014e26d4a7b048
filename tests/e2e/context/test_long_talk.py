"""Long conversations in five languages: nothing is refused or lost, and nobody waits for a summary.

`python -m tests.e2e.context.long_talk` runs them with sixty turns, in windows of 8,000 and 32,000 tokens.
"""

from __future__ import annotations

import pytest

from tests.e2e.context.long_talk import SCRIPTS, measure, wrong

pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")]

TURNS = 20
WINDOW = 3_600
SHARE = 0.8


@pytest.mark.parametrize("pins", [True, False], ids=["with-pins-by-model", "without"])
@pytest.mark.parametrize("language", SCRIPTS)
async def test_a_long_conversation_keeps_rule_and_fact_and_the_beginning_of_its_requests(
    language: str, pins: bool
) -> None:
    found = await measure(language, WINDOW, pins=pins, turns=TURNS)
    assert wrong(found, SHARE, TURNS) == []
    assert found.summaries > 0, "else the window is too large to show anything"
