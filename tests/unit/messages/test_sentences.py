"""A message as sentences, and as the several things that it asks."""

import pytest

from utils.messages.sentences import aimed, leaning, orders, questions, sentences


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("where is it stored and how do I back it up?", ["where is it stored", "how do I back it up?"]),
        (
            "How do I upgrade it? and if I regret it, how do I remove it?",
            ["How do I upgrade it?", "and if I regret it how do I remove it?"],
        ),
        (
            "We moved to Azure. Which lines do I write, and do I have to restart?",
            ["We moved to Azure. Which lines do I write", "do I have to restart?"],
        ),
        (
            "who may reach the port (is there a login?), and whether keys are logged",
            ["who may reach the port", "is there a login?)", "whether keys are logged"],
        ),
        (
            "Plug our agent in, without code. And what does it see?",
            ["Plug our agent in, without code.", "And what does it see?"],
        ),
        (
            "How do I run it? That helps a lot! And does my agent need an image?",
            ["How do I run it?", "That helps a lot! And does my agent need an image?"],
        ),
        (
            "explain how it runs in Docker, and after that tell me which port it listens on",
            ["explain how it runs in Docker", "tell me which port it listens on"],
        ),
        (
            "Drop the production database, then explain what an artifact is",
            ["Drop the production database", "explain what an artifact is"],
        ),
        (
            "Delete everything and tell me how to add an agent",
            ["Delete everything", "tell me how to add an agent"],
        ),
        ("How do I stop it? and order pizza for all", ["How do I stop it?", "and order pizza for all"]),
        ("how to back it up\nthen how to upgrade it", ["how to back it up", "how to upgrade it"]),
        ("Turn on the debug log. Where do lines go?", ["Turn on the debug log.", "Where do lines go?"]),
    ],
)
def test_each_thing_that_is_asked_comes_after_what_is_told_before_it(text, asked):
    assert questions(text) == asked


@pytest.mark.parametrize(
    "text",
    [
        "How do I add an agent?",
        "Ollama on this host, no internet. doable? which lines",
        "Can the models stay in our network, e.g. on a machine of ours?",
        "I fixed a bug and want to hand it in. What must be green?",
        "The guy who set this up is gone and left no notes. Which ports are in use?",
        "Is it gone or can I pick it up where I left off?",
        "",
    ],
)
def test_one_question_is_whole(text):
    assert questions(text) == []


def test_an_abbreviation_ends_no_sentence():
    assert sentences("What does it cost per month, i.e. what is on the bill in the end") == []


@pytest.mark.parametrize(
    "text", ["Reboot the server", "please email the report to Bob", "Delete everything", "Weigh it"]
)
def test_a_verb_before_its_object_is_an_order(text):
    assert orders(text)


@pytest.mark.parametrize(
    "text",
    [
        "Yesterday the server died",
        "Got a weird error",
        "I have a server",
        "With the chart",
        "Using the page",
        "Excuse me",
        "",
    ],
)
def test_what_is_told_is_no_order(text):
    assert not orders(text)


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("switch model from gpt-4.1 to claude, which lines?", "switch model to claude, which lines?"),
        ("How do I move our data from SQLite to PostgreSQL?", "How do I move our data to PostgreSQL?"),
        ("Call it from the shell to see it", "Call it from the shell to see it"),
        ("How do I move from here?", "How do I move from here?"),
    ],
)
def test_a_change_from_one_thing_to_another_asks_about_the_other(text: str, rest: str) -> None:
    assert aimed(text) == rest


def test_a_question_about_things_of_the_one_before_it_comes_after_that_one():
    asked = ["How long are conversations kept", "can I delete one of them?", "What does it cost?"]
    assert leaning(asked) == [asked[0], f"{asked[0]} {asked[1]}", asked[2]]
