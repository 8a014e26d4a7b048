"""What is kept of a user beyond a conversation: the user's own words, for the user alone, until they are forgotten."""

from __future__ import annotations

from tests.broken_rules.rules import Break, Edit, Rule, broken

_KNOWING = "tests/e2e/memory/test_knowing.py::"
_FORGETTING = "tests/e2e/memory/test_forgetting.py::"
_WORDS = "tests/unit/memory/test_own_words.py::"
_KEPT = "utils/memory/long_term.py::LongTermMemory"
_AROUND = "multi_agents/platform_engineer/memory/remembering.py::"
_TOOLS = "multi_agents/platform_engineer/memory/tools.py::memory_tools"
_SECOND = _KNOWING + "test_a_second_conversation_knows_what_the_first_one_said_and_another_user_does_not"
_PLANTED = _KNOWING + "test_only_the_users_own_words_become_a_memory"
_ASKED = _KNOWING + "test_the_model_remembers_finds_and_forgets_what_the_user_asks_it_to"
_CHANGED = _KNOWING + "test_what_changed_replaces_what_was_known_and_what_is_known_is_not_kept_twice"
_TOO_MUCH = _KNOWING + "test_what_does_not_fit_is_left_out_and_the_best_is_shown"

MEMORY: tuple[Rule, ...] = (
    Rule(
        "memory-owner",
        "What one user said is known to that user alone, and callers without a name have no memory.",
        (
            broken(
                "all users share one",
                "utils/memory/memory.py::owner_label",
                'f"{len(tenant)}:{tenant}{len(user)}:{user}"',
                "''",
                _SECOND,
            ),
            broken(
                "callers without a name share one",
                "utils/memory/memory.py::owner_label",
                "not user",
                "False",
                _KNOWING + "test_callers_without_a_name_share_no_memory",
            ),
            broken(
                "what another agent asks is the memory of the person it acts for",
                _AROUND + "owner_of_request",
                "request.delegation is not None",
                "False",
                "tests/unit/memory/test_owner.py::test_what_another_agent_asks_has_no_memory",
            ),
        ),
    ),
    Rule(
        "memory-own-words",
        "Only the user's own words become a memory, without secrets.",
        (
            broken(
                "whatever the model quotes",
                "utils/memory/own_words.py::quoted",
                "any(kept in ' '.join(message.split()) for message in messages)",
                "True",
                _PLANTED,
            ),
            broken(
                "a page makes the model forget",
                _TOOLS,
                "not texts or not asks_to_forget(texts[-1])",
                "False",
                _PLANTED,
            ),
            broken(
                "it forgets what the user did not mention",
                _TOOLS,
                "names(texts[-1], each.text)",
                "True",
                _PLANTED,
            ),
            broken(
                "secrets too",
                "utils/memory/own_words.py::quoted",
                "not tells_secret(quote)",
                "True",
                _WORDS + "test_a_secret_is_never_kept_and_never_shown_to_the_model_that_looks_for_memories",
            ),
            broken(
                "secrets in the summary of a conversation",
                "utils/memory/episode.py::words_of_user",
                "told_openly(each)",
                "each",
                _KNOWING + "test_secrets_are_not_kept",
            ),
        ),
    ),
    Rule(
        "memory-known",
        "What is known is shown as marked data within its tokens, once, and as it is now.",
        (
            broken(
                "it is not shown",
                "utils/context/block.py::with_known",
                "_joined(system, [known]) if known else system",
                "system",
                _SECOND,
            ),
            broken(
                "without a limit",
                _KEPT + ".block",
                "counter.text(text) <= self.settings.tokens",
                "True",
                _TOO_MUCH,
            ),
            broken(
                "any number of items",
                _KEPT + "._make_room",
                "max(0, len(items) - self.settings.items)",
                "0",
                _TOO_MUCH,
            ),
            broken(
                "what changed stays",
                _KEPT + ".learn",
                "each.replaces is not None and each.replaces.id != kept.id",
                "False",
                _CHANGED,
            ),
            broken(
                "the same words are kept twice",
                _KEPT + "._saying",
                "each.kind is kind and _same(each.text, text)",
                "False",
                _CHANGED,
            ),
            broken(
                "it is shown though it was switched off",
                _AROUND + "Remembering.known",
                "self._asks and self._memory.settings.on and self._memory.settings.tokens",
                "self._asks and self._memory.settings.tokens",
                _KNOWING + "test_what_was_kept_before_it_was_switched_off_can_still_be_listed_and_forgotten",
            ),
            broken(
                "its cost is not told",
                _AROUND + "Remembering._guarded",
                "await after.report(conversation.built, conversation.config, MEMORY, used.total)",
                "pass",
                _KNOWING + "test_what_it_costs_is_told_with_the_next_answer",
            ),
        ),
    ),
    Rule(
        "memory-forgotten",
        "What is forgotten, or leaves with its conversation, is gone from every file.",
        (
            broken(
                "a deleted conversation leaves what it taught",
                "multi_agents/platform_engineer/agent.py::PlatformEngineer.delete_conversation",
                "self._memory is not None",
                "False",
                _FORGETTING + "test_a_deleted_conversation_takes_what_it_alone_taught",
            ),
            Break(
                "a cleared one too",
                (
                    Edit(
                        "multi_agents/platform_engineer/agent.py::PlatformEngineer.clear_context",
                        "self._memory is not None",
                        "False",
                    ),
                    Edit(_AROUND + "Remembering._guarded", "not await conversation.messages()", "False"),
                ),
                (_FORGETTING + "test_a_cleared_conversation_taught_nothing",),
            ),
            broken(
                "what others told too leaves as well",
                "utils/persistence/memories.py::SqliteMemories.remove_learnt.write",
                "(thread_id, thread_id)",
                "(thread_id, '')",
                _FORGETTING + "test_a_deleted_conversation_takes_what_it_alone_taught",
            ),
            broken(
                "it is learnt from after its deletion",
                _AROUND + "Remembering._guarded",
                "not await conversation.messages()",
                "False",
                _FORGETTING + "test_a_conversation_that_is_deleted_while_it_is_learnt_from_teaches_nothing",
            ),
            broken(
                "it stays in the log of the file",
                _KEPT + ".forget",
                "await self._wipe()",
                "pass",
                _FORGETTING + "test_what_is_forgotten_is_in_no_file_once_its_conversation_is_deleted",
            ),
            broken(
                "a summary that was forgotten is written again",
                _KEPT + "._drop",
                "memory.kind is MemoryKind.EPISODE",
                "False",
                _ASKED,
            ),
            broken(
                "the summary that tells the same stays",
                _KEPT + ".forget",
                "each.kind is MemoryKind.EPISODE and any(some and some <= _words(each.text) for some in words)",
                "False",
                _ASKED,
            ),
            broken(
                "it is stored as it is",
                "utils/persistence/encrypted/stores.py::EncryptedMemories.put",
                "self._codec.encrypt(row.body, _memory(row))",
                "row.body",
                _FORGETTING + "test_with_a_key_no_file_holds_a_word_of_what_is_remembered",
            ),
        ),
    ),
)
