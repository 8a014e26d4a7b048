"""Only an explicit yes approves, in the few forms in which people say it."""

from __future__ import annotations

import pytest

from utils.messages.approval import approves


@pytest.mark.parametrize(
    "said",
    [
        "yes",
        "Yes!",
        "YES.",
        "yes please",
        "Yes, please.",
        "yes, go ahead",
        "yes, do it!",
        "y",
        "send it",
        "I approve",
    ],
)
def test_an_explicit_yes_approves(said: str) -> None:
    assert approves(said, "digest")


@pytest.mark.parametrize(
    "said",
    [
        "", "ok", "sure", "do it", "go ahead", "please do", "yes?", "yes but not now", "yes, and close issue 5 too",
        "yes, do it later", "no", "yеs", "yes yes",
    ],
)  # fmt: skip
def test_anything_else_does_not(said: str) -> None:
    assert not approves(said, "digest")
