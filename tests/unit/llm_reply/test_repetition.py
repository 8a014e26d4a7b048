"""When a text counts as endless repetition."""

import pytest

from utils.llm.reply.repetition import repeated_from

TABLE = "".join(f"| pod-{index} | 0 | Running |\n" for index in range(400))


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Intro. " + "very good and " * 400, "Intro. very good and "),
        ("ha" * 3_000, "ha"),
        (
            "One.\n" + "- the same line of a list, word for word\n" * 200,
            "One.\n- the same line of a list, word for word\n",
        ),
        ("so " + "- " * 6_000, "so - "),
    ],
)
def test_a_text_that_ends_in_repetitions_is_cut_after_the_first(text, kept):
    found = repeated_from(text)
    assert found is not None
    assert text[:found].strip() == kept.strip()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "word " * 400,
        TABLE,
        "very good and " * 400 + "then it ends.",
        "- " * 1_000,
        "a sentence of its own. " * 20,
    ],
)
def test_a_long_list_a_table_or_a_short_repetition_is_none(text):
    assert repeated_from(text) is None
