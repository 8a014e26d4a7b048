"""The table of broken rules cannot rot: what it edits and what it names is there."""

from __future__ import annotations

import ast
from functools import cache

import pytest

from tests.broken_rules.judge import Outcome, crash, unnoticed
from tests.broken_rules.product import Product
from tests.broken_rules.rules import Break, Rule
from tests.broken_rules.table import RULES
from tests.style.sources import ROOT, functions

BREAKS = [
    pytest.param(each, id=f"{rule.id}-{number}")
    for rule in RULES
    for number, each in enumerate(rule.breaks, start=1)
]


@cache
def named_in(file: str) -> frozenset[str]:
    return frozenset(node.name for node in functions(ROOT / file))


@cache
def as_written(file: str) -> str:
    """A file as `Product.broken` writes it: without layout and comments where it is Python."""
    text = (ROOT / file).read_text("utf-8")
    return ast.unparse(ast.parse(text)) if file.endswith(".py") else text


@pytest.mark.slow
@pytest.mark.parametrize("each", BREAKS)
def test_what_a_break_edits_is_there_once_and_what_comes_of_it_is_a_program(each: Break):
    for file, text in Product(ROOT).broken(each.edits).items():
        assert text != as_written(file)
        if file.endswith(".py"):
            ast.parse(text)


@pytest.mark.parametrize("each", BREAKS)
def test_the_tests_that_must_notice_a_break_exist(each: Break):
    assert each.tests
    for node in each.tests:
        file, _, name = node.partition("::")
        assert name in named_in(file), node


def test_every_rule_has_an_id_of_its_own_a_sentence_and_a_way_to_break_it():
    assert len({rule.id for rule in RULES}) == len(RULES)
    for rule in RULES:
        assert rule.sentence.endswith(".")
        assert rule.breaks
        assert len({each.name for each in rule.breaks}) == len(rule.breaks)


def test_a_break_counts_as_noticed_only_where_each_test_is_red_for_what_the_product_does():
    red = Outcome("a::test_one", passed=False, error="AssertionError")
    green = Outcome("a::test_two", passed=True)
    assert unnoticed(["a::test_one"], [red]) == []
    assert unnoticed(["a::test_one", "a::test_two"], [red, green]) == ["a::test_two"]
    assert unnoticed(["a::test_one"], []) == ["a::test_one"]
    assert crash([red, green]) == ""
    no_name = Outcome("a::test_one", passed=False, error="NameError", reason="name 'x' is not defined")
    in_the_log = Outcome(
        "a::test_one",
        passed=False,
        error="AssertionError",
        said="turn.crashed\nTypeError: no such argument\n",
    )
    in_a_library = Outcome(
        "a::test_one",
        passed=False,
        error="AssertionError",
        said='  File "/v/site-packages/json.py", line 3, in dumps\nTypeError: not serialisable\n',
    )
    assert crash([in_a_library]) == ""
    assert crash([no_name]) == "NameError: name 'x' is not defined"
    assert crash([green, in_the_log]) == "TypeError: no such argument"


def test_the_table_is_made_of_rules():
    assert all(isinstance(rule, Rule) for rule in RULES)
