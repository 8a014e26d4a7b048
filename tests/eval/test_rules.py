"""Standing rules are found without a model, in six languages."""

from pathlib import Path

import pytest

from tests.eval.rules import FILE, PRECISION, RECALL, scores

HELD_OUT = Path(__file__).with_name("rules_held_out.yaml")


@pytest.mark.parametrize("path", [FILE, HELD_OUT], ids=lambda path: path.stem)
def test_rules_are_found_and_requests_are_not_taken_for_rules(path):
    for language, score in scores(path).items():
        assert score.precision >= PRECISION, (language, score.wrong)
        assert score.recall >= RECALL, (language, score.missed)
