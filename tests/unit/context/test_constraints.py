import pytest
from langchain_core.messages import AIMessage

from tests.unit.context.conversations import COUNTER, human
from utils.context.constraints import constraints_in, within


def pinned(*texts):
    return [pin.text for pin in constraints_in(human(text, str(i)) for i, text in enumerate(texts))]


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


@pytest.mark.parametrize(
    ("rule", "asked"),
    [
        ("Never drop a namespace without asking me.", "Drop the staging namespace."),
        ("Never touch the production database.", "Drop the index on the reports database."),
        ("Never touch production.", "Forget it, show me the logs instead."),
        ("Never touch production.", "Forget about production, show me staging."),
        ("Never touch production.", "Forget about production."),
        ("Never touch production.", "Forget that."),
        ("Never touch production.", "Forget everything."),
        ("Never touch production.", "Drop my last request, the one about production."),
        ("Never open port 443.", "Remove the firewall rule about port 443."),
        ("Never open port 443.", "Drop the rule about port 443."),
        ("Never run the tests on production.", "You may run the tests again."),
        ("Never touch the production database.", "You may touch the staging database again."),
        ("Always answer in tables.", "You may answer in tables again."),
        ("Never touch production.", "Forget the rule about staging."),
        ("Never touch production.", "Should I forget the rule about production?"),
    ],
)
def test_an_ordinary_request_never_unpins_a_rule(rule, asked):
    assert rule in pinned(rule, asked)


@pytest.mark.parametrize(
    "revoked",
    [
        "Forget the rule about production.",
        "Please ignore my earlier rule about production",
        "Disregard the constraint on production, please.",
        "You may touch production again.",
        "Now you are allowed to touch production again",
        "Forget the rule never to touch production.",
    ],
)
def test_a_revocation_that_names_the_rule_as_a_rule_unpins_it_and_no_other(revoked):
    assert pinned("Never touch production.", "I prefer tables.", revoked) == ["I prefer tables."]


def test_all_rules_are_unpinned_at_once_and_that_rule_only_where_there_is_one():
    assert pinned("Never touch production.", "I prefer tables.", "Forget all my rules.") == []
    assert pinned("Never touch production.", "Forget that rule.") == []
    two = ("Never touch production.", "I prefer tables.")
    assert pinned(*two, "Forget that rule.") == list(two)


def test_what_tools_and_models_say_is_never_pinned():
    assert constraints_in([AIMessage("Never touch production.")]) == []


def test_of_too_many_pins_the_newest_stay():
    pins = pinned(*(f"Never touch service number {i}." for i in range(100)))
    kept = within(pins, 100, COUNTER)
    assert kept == pins[-len(kept) :]
    assert sum(map(COUNTER.text, kept)) <= 100


@pytest.mark.timeout(
    60
)  # what could be read as one word or as two took twice as long with each time it was said
@pytest.mark.parametrize("said", ["and also ", "please ", "important: ", "by the way, "])
def test_a_sentence_that_begins_many_times_is_no_rule_soon(said):
    assert pinned((said * 40)[:280] + "x") == []
