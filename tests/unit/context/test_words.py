"""A compaction is told in words that say what its stage did."""

import pytest

from utils.context.announce import line
from utils.context.policy import PipelineStage


@pytest.mark.parametrize("strategy", [*(stage.value for stage in PipelineStage), "clip", "drop"])
def test_each_stage_says_in_its_own_words_what_it_did(strategy):
    told = line(strategy, 900, 400, 1_000, 3)
    assert told.startswith("context 90 % → 40 %, 3 ")
    assert not told.endswith("messages changed")
