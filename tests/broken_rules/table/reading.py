"""What a person asks for is read as it was meant."""

from __future__ import annotations

from tests.broken_rules.rules import Rule, broken

_LIBRARY = "agents/rag/retrieve/library.py::Library.search"
_WORDS = "utils/messages/typing_errors.py::"
_TYPED = "tests/unit/messages/test_typing_errors.py::"
_LISTS = "tests/unit/github/test_lists.py::"

READING: tuple[Rule, ...] = (
    Rule(
        "read-typing-error",
        "A word with one typing error that no passage has is searched for as the word that was meant.",
        (
            broken(
                "it is searched for as it was typed",
                _LIBRARY,
                "await self._index.mended(text)",
                "text",
                "tests/unit/rag/test_search.py::"
                "test_a_question_with_a_typing_error_finds_by_words_and_by_meaning_what_was_meant",
            ),
            broken(
                "a word that may be one of two is read as the first",
                _WORDS + "nearest",
                "near and all(each.startswith(begins) for each in near)",
                "near",
                _TYPED + "test_a_known_word_another_word_two_errors_and_what_may_be_two_words_are_left",
            ),
            broken(
                "two letters that changed places are two errors",
                _WORDS + "_one_error",
                "short[at + 1:] == long[at + 1:] or (swapped and short[at + 2:] == long[at + 2:])",
                "short[at + 1:] == long[at + 1:]",
                _TYPED + "test_one_letter_missing_added_changed_or_swapped_is_one_error",
            ),
            broken(
                "words of documents that came later are unknown",
                "agents/rag/index/search.py::Searcher._words_of",
                "self._vocabulary.generation != generation",
                "self._vocabulary.generation < 0",
                "tests/contract/rag/test_index.py::"
                "test_a_word_that_no_passage_has_is_read_as_the_one_that_was_meant",
            ),
        ),
    ),
    Rule(
        "read-period",
        "A period has a begin and an end, and means when something was opened, closed, merged or started.",
        (
            broken(
                "its end is dropped",
                "utils/llm/offline/dates.py::period",
                "next(iter(until), None)",
                "None",
                "tests/unit/llm_offline/test_reading.py::test_a_time_begins_and_ends_where_the_words_say",
            ),
            broken(
                "runs of any time are listed",
                "agents/github/tools/workflows.py",
                "f\"{args.since or '*'}..{args.until or '*'}\" if args.since or args.until else None",
                "None",
                _LISTS + "test_runs_and_releases_of_a_period_are_listed",
            ),
            broken(
                "what was closed is dated by its last change",
                "agents/github/tools/arguments.py",
                "_DATES.get(self.dated or state, 'updated')",
                "'updated'",
                _LISTS + "test_the_time_of_what_has_ended_is_when_it_ended",
            ),
        ),
    ),
)
