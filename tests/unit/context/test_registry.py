import pytest
from langchain_core.messages import AIMessage

from tests.unit.context.conversations import COUNTER, human
from utils.context.registry import pins_of, within


def pinned(*texts):
    return [pin.text for pin in pins_of(human(text, str(i)) for i, text in enumerate(texts))]


@pytest.mark.parametrize(
    "text",
    [
        "Never touch production.",
        "Please don't restart the payments service.",
        "Always answer in metric units.",
        "You must not open pull requests without asking me.",
        "My account id is ACME-48213.",
        "My name is Grace.",
        "I prefer short answers with links.",
        "Our staging cluster is blue-7.",
        "Remember that the freeze ends on Friday.",
        "Answer in German.",
        "From now on use the eu-west-1 region",
        "The audit bucket is off limits.",
    ],
)
def test_a_constraint_is_pinned_word_for_word(text):
    assert pinned(f"Hello there. {text}\nWhat is the weather like?") == [text]


@pytest.mark.parametrize(
    "text",
    [
        "Why does it never start?",
        "List the open pull requests.",
        "I have never seen this.",
        "Is production down?",
    ],
)
def test_a_plain_question_or_remark_is_not_pinned(text):
    assert pinned(text) == []


def test_forget_that_unpins_the_last_and_forget_about_unpins_what_it_names():
    assert pinned("Never touch production.", "I prefer tables.", "Forget that.") == [
        "Never touch production."
    ]
    assert pinned("Never touch production.", "I prefer tables.", "Forget about production.") == [
        "I prefer tables."
    ]
    assert pinned("Never touch production.", "I prefer tables.", "Forget everything.") == []


def test_what_tools_and_models_say_is_never_pinned():
    assert pins_of([AIMessage("Never touch production.")]) == []


def test_of_too_many_pins_the_newest_stay():
    pins = pins_of(human(f"Never touch service number {i}.", str(i)) for i in range(100))
    kept = within(pins, 100, COUNTER)
    assert kept == pins[-len(kept) :]
    assert sum(COUNTER.text(pin.text) for pin in kept) <= 100
