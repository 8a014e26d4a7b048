"""A word with one typing error is read as the word that was meant, and right words stay."""

import pytest

from utils.messages.typing_errors import mended_by, nearest, plain_words

KNOWN = ("login", "logging", "health", "backup", "backups", "encryption", "issue", "docker")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("helth", "health"),
        ("encryyption", "encryption"),
        ("encrypfion", "encryption"),
        ("dokcer", "docker"),
        ("dockre", "docker"),
        ("bakup", "backup"),
        ("isue", "issue"),
    ],
)
def test_one_letter_missing_added_changed_or_swapped_is_one_error(typed, meant):
    assert nearest(typed, KNOWN) == meant


@pytest.mark.parametrize("typed", ["health", "wealth", "hlt", "enkripsion", "loging", "dokecr", ""])
def test_a_known_word_another_word_two_errors_and_what_may_be_two_words_are_left(typed):
    assert nearest(typed, KNOWN) is None


def test_only_words_that_other_texts_do_not_have_are_replaced_and_the_rest_stays_as_it_was_written():
    said = "Is the Helth of my BACKUP shown in docs/helth.md, HELTH_PORT or helth/bakup?"
    assert mended_by(said, ["The health of a backup"]) == said.replace("Helth", "health")


def test_the_words_of_a_text_are_no_names_of_files_and_settings():
    assert plain_words("Open docs/backup.md, set LOG_LEVEL and open the page; open x") == ["open", "page"]
