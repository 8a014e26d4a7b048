from __future__ import annotations

from multi_agents.cli.view.long_lists import FEW, SHOWN, pages

HEAD = "| # | Title |\n|---|---|"


def table(rows: int) -> str:
    return "\n".join([HEAD, *(f"| {number} | Row {number} |" for number in range(rows))])


def test_a_long_table_is_cut_and_every_row_comes_with_more():
    page = pages(f"60 pull requests\n\n{table(60)}\n\nSource: here")
    assert page.first.startswith(f"60 pull requests\n\n{HEAD}\n| 0 |")
    assert page.first.endswith("Source: here")
    assert page.left == 60 - SHOWN
    seen = [page.first]
    while page.rest:
        page = page.next()
        assert page.first.startswith(HEAD)
        seen.append(page.first)
    assert page.left == 0
    rows = [line for text in seen for line in text.splitlines() if "Row" in line]
    assert rows == [f"| {number} | Row {number} |" for number in range(60)]


def test_a_list_of_items_is_cut_too():
    page = pages("\n".join(["Documents:", *(f"- doc{number}.md" for number in range(29))]))
    assert page.first.splitlines()[-1] == f"- doc{SHOWN - 1}.md"
    assert page.left == 29 - SHOWN


def test_what_is_little_longer_is_shown_whole():
    text = table(SHOWN + FEW)
    assert pages(text).first == text
    assert not pages(text).rest


def test_lines_of_code_that_look_like_a_list_are_not_cut():
    code = "\n".join(["```", *(f"- {number}" for number in range(40)), "```"])
    assert pages(code).first == code
