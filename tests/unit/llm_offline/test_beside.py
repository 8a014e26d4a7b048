"""A long table leaves room for the parts of an answer that stand beside it."""

from utils.llm.offline.answer.tables import BESIDE, few_rows, table

ROWS = [{"number": number, "title": f"Change {number}"} for number in range(1, 61)]


def test_a_long_table_shows_its_first_rows_and_how_many_there_are_more():
    shown = few_rows(f"**60 issues**\n\n{table(ROWS)}\n\nSource: https://x").split("\n")
    assert f"| {BESIDE} | Change {BESIDE} |" in shown
    assert f"| {BESIDE + 1} | Change {BESIDE + 1} |" not in shown
    assert f"… and {60 - BESIDE} more. Ask for this part alone to see them." in shown
    assert (shown[0], shown[-1]) == ("**60 issues**", "Source: https://x")


def test_a_table_that_is_no_longer_is_left_as_it_is():
    text = table(ROWS[: BESIDE + 1])
    assert few_rows(text) == text
