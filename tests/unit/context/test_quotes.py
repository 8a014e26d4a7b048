import pytest

from tests.unit.context.conversations import human
from utils.context.constraints import Constraint, constraints_in
from utils.context.quotes import question_about, verbatim

TEXT = "Fridays are for shipping. Our people in Lyon read French. Please list the open pull requests."


def test_a_model_is_asked_about_a_message_that_says_more_than_the_rules_know():
    question = question_about(TEXT)
    assert question is not None
    assert TEXT in question
    assert "{{" not in question


@pytest.mark.parametrize(
    "text", ["How many pull requests are open?", "Never touch production.", "Forget that rule.", "", "Hi!"]
)
def test_a_model_is_not_asked_where_the_rules_are_enough(text):
    assert question_about(text) is None


def test_only_what_stands_in_the_message_word_for_word_counts():
    quotes = ["Our people in Lyon read French.", "Fridays are for shipping.", "Mondays are for shipping."]
    assert verbatim(quotes, TEXT) == ["Fridays are for shipping.", "Our people in Lyon read French."]


@pytest.mark.parametrize("quotes", [[], ["Fri"], [TEXT * 9], ["No."]])
def test_what_is_too_short_too_long_or_not_there_pins_nothing(quotes):
    assert verbatim(quotes, TEXT) == []


def test_what_the_rules_pinned_is_not_pinned_twice_and_a_message_pins_at_most_eight():
    assert verbatim(["touch production"], "Never touch production. We like tea.") == []
    many = " ".join(f"House rule number {n} is tea." for n in range(20))
    assert len(verbatim(many.split(". "), many)) == 8


def test_a_quote_is_in_force_from_its_message_on_and_goes_when_the_user_says_so():
    extra = [
        Constraint("Fridays are for shipping.", "1"),
        Constraint("made up", "1"),
        Constraint("Fridays are for shipping.", "gone"),
    ]
    said = [human("Never touch production.", "0"), human(TEXT, "1")]
    assert [pin.text for pin in constraints_in(said, extra)] == [
        "Never touch production.",
        "Fridays are for shipping.",
    ]
    ships = [*said, human("Forget the rule about Fridays.", "2")]
    assert [pin.text for pin in constraints_in(ships, extra)] == ["Never touch production."]
    about = [*said, human("You may touch production again.", "2")]
    assert [pin.text for pin in constraints_in(about, extra)] == ["Fridays are for shipping."]


def test_a_message_that_unpins_a_rule_is_still_asked_about_for_what_else_it_says():
    text = "Forget the rule about production. Fridays are for shipping."
    assert question_about(text) is not None
    quotes = ["Forget the rule about production.", "Fridays are for shipping."]
    assert verbatim(quotes, text) == ["Fridays are for shipping."]
    assert question_about("Drop the pod of the old release. Fridays are for shipping.") is not None
