"""Which signatures of calls the double asks for as Gemini does."""

from __future__ import annotations

from typing import Any

import pytest

from utils.testing.strict.gemini_rules import SIGNATURE, UNSIGNED, check

WORDS = {"role": "user", "parts": [{"text": "hi"}]}
SAID = {"role": "model", "parts": [{"text": "hello"}]}
FOUND = {"role": "user", "parts": [{"functionResponse": {"name": "find", "response": {}}}]}


def calling(**signed: str) -> dict[str, Any]:
    return {"role": "model", "parts": [{"functionCall": {"name": "find", "args": {}}, **signed}]}


def rule(*contents: dict[str, Any]) -> str | None:
    broken = check({"contents": list(contents)}, 10_000)
    return broken.rule if broken else None


@pytest.mark.parametrize("signature", [SIGNATURE, UNSIGNED])
def test_a_call_of_the_current_turn_has_its_signature_or_the_one_for_calls_of_other_models(signature):
    assert rule(WORDS, calling(thoughtSignature=signature), FOUND) is None


@pytest.mark.parametrize("signed", [{}, {"thoughtSignature": "c29tZXRoaW5n"}])
def test_a_call_of_the_current_turn_without_its_signature_is_refused(signed):
    assert rule(WORDS, calling(**signed), FOUND) == "signature"
    assert (
        rule(WORDS, SAID, WORDS, calling(thoughtSignature=SIGNATURE), FOUND, calling(**signed), FOUND)
        == "signature"
    )


def test_a_call_of_an_earlier_turn_needs_no_signature():
    assert rule(WORDS, calling(), FOUND, SAID, WORDS) is None
