"""Questions for a secret, and questions that are too long to tell."""

from __future__ import annotations

import pytest

from utils.messages.secret_words import LONGEST, asks_for_secret


@pytest.mark.parametrize(
    ("question", "form"),
    [("What is your pass_word?", None), ("Which repository?", {"fields": ["api-key"]}), ("密码?", None)],
)
def test_a_question_for_a_secret_is_recognised(question: str, form: dict[str, object] | None) -> None:
    assert asks_for_secret(question, form)


def test_another_question_is_none() -> None:
    assert not asks_for_secret("Which repository?", {"fields": ["name"]})


@pytest.mark.parametrize("form", [None, {"fields": ["name"]}])
def test_a_question_that_nobody_reads_to_its_end_counts_as_one(form: dict[str, object] | None) -> None:
    assert asks_for_secret("Which repository? " * LONGEST, form)


def test_a_form_that_nobody_reads_to_its_end_counts_as_one() -> None:
    assert asks_for_secret("Which repository?", {"fields": ["name"] * LONGEST})
