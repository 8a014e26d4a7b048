"""What is stored of conversations is encrypted where that is set."""

from __future__ import annotations

from tests.broken_rules.rules import Rule, broken

_CODEC = "utils/encryption/codec.py::Codec"
_STORES = "utils/persistence/encrypted/stores.py::"
_LOG = "utils/persistence/encrypted/task_log.py::EncryptedTaskLog"
_CONTRACT = "tests/contract/stores/test_encryption.py::"
_NO_WORD = _CONTRACT + "test_no_file_holds_a_word_of_what_is_kept_while_a_task_is_worked_on"
_NEXT = _CONTRACT + "test_what_one_start_stored_the_next_one_reads"
_PLACES = "tests/contract/stores/test_places.py::"
_MOVED = _PLACES + "test_what_is_moved_in_the_storage_is_refused"
_RENEWED = "tests/contract/stores/test_renewal.py::"
_REPLICAS = "tests/unit/engine/test_keys_of_replicas.py::"
_LATER = "tests/e2e/conversations/test_encrypting_later.py::"
_ADOPTED = (
    "tests/e2e/auth/test_adopting.py::"
    "test_a_person_of_a_provider_answers_the_question_that_waits_and_its_webhook_hears_it"
)
_COPIED = _PLACES + "test_a_conversation_that_is_copied_from_somebody_else_is_refused"
_LINES = (
    "tests/e2e/conversations/test_encrypted.py::"
    "test_the_terminal_encrypts_its_lines_and_forgets_those_of_a_deleted_conversation"
)
_START = _CONTRACT + "test_a_start_without_the_keys_of_the_last_one_is_refused"

ENCRYPTION: tuple[Rule, ...] = (
    Rule(
        "promise-4.22",
        "What is stored of conversations is encrypted where that is set.",
        (
            broken(
                "events are stored as they are",
                _LOG + "._closed",
                "self._codec.encrypt(record.body, place)",
                "record.body",
                _NO_WORD,
            ),
            broken(
                "heads are stored as they are",
                _LOG + "._closed_row",
                "self._codec.encrypt(row.body, places.head(row.id, row.owner))",
                "row.body",
                _NO_WORD,
            ),
            broken(
                "turns are stored as they are",
                _STORES + "EncryptedRuns.put",
                "self._codec.encrypt(row.body, _run(row))",
                "row.body",
                _NO_WORD,
            ),
            broken(
                "outcomes are stored as they are",
                _STORES + "EncryptedToolRecord.finish",
                "self._codec.encrypt(outcome, _call(key))",
                "outcome",
                _NO_WORD,
            ),
            broken(
                "requests are stored as they are",
                _STORES + "EncryptedDelegations.put",
                'self._codec.encrypt_text(record.request, _of(record, "request"))',
                "record.request",
                _NO_WORD,
            ),
            broken(
                "questions are stored as they are",
                _STORES + "EncryptedDelegations.put",
                '[self._closed(list(record.questions), _of(record, "questions"))]',
                "record.questions",
                _NO_WORD,
            ),
            broken(
                "texts are stored as they are",
                _STORES + "EncryptedArtifacts.put",
                "self._codec.encrypt_text(text, places.artifact(scope, handle))",
                "text",
                _NO_WORD,
            ),
            broken(
                "titles are stored as they are",
                _STORES + "EncryptedTitles.put",
                "self._codec.encrypt_text(title, places.title(owner, context_id))",
                "title",
                _NO_WORD,
            ),
            broken(
                "checkpoints are stored as they are",
                "utils/persistence/encrypted/serializer.py::CodecSerializer.dumps_typed",
                "self._encrypts",
                "False",
                _NO_WORD,
            ),
            broken(
                "texts among the channels are stored as they are in PostgreSQL",
                "utils/persistence/postgres/checkpoints.py::PrunedSaver._closed",
                "self._codec.encrypt_text(text, place)",
                "text",
                _NO_WORD,
            ),
            broken(
                "webhooks are stored as they are in a file",
                "utils/a2a_common/server/push/store.py::SqlitePushConfigs.put",
                "self._codec.encrypt(stored(webhook.config, version), places.webhook(*key))",
                "stored(webhook.config, version)",
                _NO_WORD,
            ),
            broken(
                "webhooks are stored as they are in PostgreSQL",
                "utils/a2a_common/server/push/store_postgres.py::PostgresPushConfigs.put",
                "self._codec.encrypt(stored(webhook.config, version), place)",
                "stored(webhook.config, version)",
                _NO_WORD,
            ),
            broken(
                "changes are stored as they are",
                "agents/github/changes/encrypted.py::EncryptedJournal.ask",
                "self._codec.encrypt_text(entry.what, _of(entry))",
                "entry.what",
                _NO_WORD,
            ),
            broken(
                "links of changes are stored as they are",
                "agents/github/changes/encrypted.py::EncryptedJournal.settle",
                "self._codec.encrypt_text(link, places.link(key))",
                "link",
                _NO_WORD,
            ),
            broken(
                "the stores of an agent get no keys",
                "utils/a2a_common/graph/runtime.py::AgentRuntime.stores",
                "stores_in(self.folder, self.database, self.codec, self.shared_keys)",
                "stores_in(self.folder, self.database)",
                "tests/e2e/conversations/test_encrypted.py::"
                "test_with_a_key_no_file_of_any_agent_holds_a_word_and_a_restart_goes_on",
                "tests/e2e/postgres/test_encrypted_conversations.py::"
                "test_with_a_key_neither_tables_nor_the_write_ahead_log_hold_a_word",
            ),
            broken(
                "only the first key reads",
                "utils/encryption/codec.py::fernet_of",
                "[Fernet(key) for key in keys]",
                "[Fernet(key) for key in keys][:1]",
                _NEXT,
                "tests/unit/encryption/test_codec.py::test_a_new_first_key_writes_and_the_old_one_still_reads",
            ),
            broken(
                "what is plain is not read",
                _CODEC + ".decrypt",
                "self._opened(_token(stored)) if stored.startswith(OLD_MARK) else stored",
                "self._opened(_token(stored))",
                _NEXT,
            ),
            broken(
                "an agent starts without its keys",
                "utils/persistence/encrypted/check.py::_check",
                "stored is None",
                "True",
                _START,
                "tests/e2e/conversations/test_encrypted.py::test_a_key_that_is_gone_is_told_in_a_sentence",
            ),
            broken(
                "a lost key breaks a list",
                _LOG + "._row_or_lost",
                "StorageUnreadable",
                "ZeroDivisionError",
                _CONTRACT + "test_without_its_key_each_read_fails_with_a_sentence_and_a_list_shows_the_rest",
            ),
            broken(
                "vectors are kept as they are",
                "utils/embeddings/store.py::VectorStore._row",
                "self._codec.encrypt(vector.astype(np.float32).tobytes(), place_of(self._model, key))",
                "vector.astype(np.float32).tobytes()",
                "tests/unit/encryption/test_codec.py::test_cached_vectors_of_texts_are_encrypted_and_found_again",
            ),
        ),
    ),
    Rule(
        "shared-keys",
        "A replica that lacks a key of the others takes no turn and loses none.",
        (
            broken(
                "it fetches turns that it cannot read",
                "utils/a2a_common/engine/resilient_jobs.py::ResilientJobManager._is_fit",
                "self._fit is None or await self._fit()",
                "True",
                "tests/contract/queue/test_turn_queue.py::"
                "test_a_replica_that_is_not_fit_leaves_all_turns_to_the_other_until_it_is",
            ),
            broken(
                "it accepts a turn whose answer it cannot read",
                "utils/persistence/encrypted/shared_keys.py::SharedKeys.check",
                "not await self.fit()",
                "False",
                _REPLICAS + "test_it_says_that_it_is_not_ready_and_accepts_nothing_that_it_could_not_answer",
            ),
            broken(
                "a key that shall only read writes",
                _CODEC + ".encrypt",
                "self._first is None",
                "self._fernet is None",
                "tests/unit/encryption/test_codec.py::test_a_key_behind_plain_reads_and_does_not_write",
            ),
            broken(
                "one turn that no key reads stops the others",
                _STORES + "EncryptedRuns._row",
                "StorageUnreadable",
                "ZeroDivisionError",
                _REPLICAS + "test_a_turn_that_no_key_reads_is_ended_and_the_others_go_on",
            ),
        ),
    ),
    Rule(
        "encrypted-lines",
        "Lines that are typed into the chat are encrypted where that is set, and forgotten with their conversation.",
        (
            broken(
                "lines are stored as they are",
                "multi_agents/cli/chat/typed_history.py::TypedHistory.store_string",
                "self._codec.encrypt_text(string, PLACE)",
                "string",
                _LINES,
            ),
            broken(
                "lines are shown as they are stored",
                "multi_agents/cli/chat/typed_history.py::TypedHistory.load_history_strings",
                "self._codec.decrypt_text(stored, PLACE)",
                "stored",
                _LINES,
            ),
            broken(
                "encrypted lines are not found",
                "multi_agents/cli/typed_lines.py::_read",
                "codec.decrypt_text(typed, PLACE)",
                "typed",
                _LINES,
            ),
        ),
    ),
    Rule(
        "bound-values",
        "An encrypted value is of use in its own row and for its own owner alone.",
        (
            broken(
                "a value is read wherever it stands",
                "utils/encryption/codec.py::_belonging",
                "hmac.compare_digest(body[:_DIGEST], digest_of(place))",
                "True",
                _MOVED,
                "tests/unit/encryption/test_codec.py::test_what_is_found_at_another_place_than_its_own_is_refused",
                "tests/e2e/conversations/test_encrypted.py::"
                "test_what_somebody_copies_in_the_storage_is_refused_with_a_sentence_and_a_code",
            ),
            broken(
                "a list shows what was moved",
                _LOG + "._row_or_lost",
                "self._row(row)",
                "row",
                _MOVED,
            ),
            *(
                broken(
                    f"{name} is bound to less",
                    f"utils/persistence/encrypted/places.py::{name}",
                    code,
                    less,
                    test,
                )
                for name, code, less, test in (
                    ("head", '("tasks.body", task_id, owner)', '("tasks.body", task_id)', _MOVED),
                    (
                        "event",
                        '("task_events.body", task_id, str(sequence))',
                        '("task_events.body",)',
                        _MOVED,
                    ),
                    ("run", '("runs.body", task_id, owner, conversation)', '("runs.body",)', _MOVED),
                    (
                        "outcome",
                        '("tool_calls.outcome", task_id, step, call_id)',
                        '("tool_calls.outcome",)',
                        _MOVED,
                    ),
                    (
                        "delegation",
                        '(f"delegations.{column}", delegation_id, thread_id, agent)',
                        '(f"delegations.{column}", delegation_id, thread_id)',
                        _MOVED,
                    ),
                    ("artifact", '("artifacts.text", scope, handle)', '("artifacts.text", handle)', _MOVED),
                    ("title", '("titles.title", owner, context_id)', '("titles.title",)', _MOVED),
                    (
                        "webhook",
                        '("push_configs.body", owner, task_id, config_id)',
                        '("push_configs.body", config_id)',
                        _MOVED,
                    ),
                    ("change", '("changes.what", key, thread_id)', '("changes.what", key)', _MOVED),
                    ("link", '("changes.link", key)', '("changes.link",)', _MOVED),
                    ("checkpoint", '("checkpoints", thread_id)', '("checkpoints",)', _COPIED),
                    (
                        "message",
                        '("conversation_messages.body", thread_id, digest)',
                        '("conversation_messages.body",)',
                        _PLACES + "test_a_message_that_is_copied_from_somebody_else_is_refused",
                    ),
                )
            ),
        ),
    ),
    Rule(
        "encrypted-later",
        "What was stored before is encrypted by the newest key and for its place, and what cannot be read is named.",
        (
            broken(
                "old values stay as they are",
                "utils/persistence/encrypted/renewal.py::renewed",
                "_RENEW[form](codec, tuple(values), place, to or place)",
                "None",
                _LATER + "test_what_was_said_before_there_were_keys_is_in_no_file_and_is_remembered",
                _RENEWED + "test_all_is_encrypted_by_the_first_key_and_stays_readable",
            ),
            broken(
                "texts among the channels are forgotten",
                "utils/persistence/encrypted/renewal.py::_channels",
                "isinstance(value, str)",
                "False",
                _RENEWED + "test_every_column_that_is_encrypted_is_renewed",
            ),
            broken(
                "the tables keep their old rows",
                "utils/persistence/encrypted/renew_database.py::renew_database",
                "await _rewrite(pool, dict.fromkeys(column.shared for column in there))",
                "None",
                _RENEWED + "test_nothing_plain_is_left_in_a_file",
            ),
            broken(
                "one value ends the run",
                "utils/persistence/encrypted/tally.py::batch_of",
                "(StorageUnreadable, ValueError)",
                "ZeroDivisionError",
                _RENEWED + "test_a_row_that_cannot_be_read_is_named_and_stays",
            ),
            broken(
                "a run that is stopped goes to its end",
                "utils/persistence/encrypted/renew_files.py::renew_files",
                "after is not None and not tally.stopped.is_set()",
                "after is not None",
                _RENEWED + "test_a_run_that_is_stopped_goes_on_from_there",
            ),
            broken(
                "typed lines are forgotten",
                "multi_agents/cli/typed_lines.py::renewed",
                "said and not codec.is_current(typed)",
                "False",
                _LATER + "test_lines_that_were_typed_and_vectors_are_encrypted_as_well",
            ),
        ),
    ),
    Rule(
        "adopted",
        "What was had before callers were known goes to its person whole, and nothing of anybody else.",
        (
            broken(
                "what is encrypted stays for the owner before",
                "utils/persistence/adoption.py::_encrypted",
                "set(move.to) & set(column.given)",
                "False",
                _ADOPTED,
                "tests/e2e/conversations/test_adopting.py::"
                "test_after_api_keys_are_switched_on_a_person_goes_on_with_what_was_said_before",
            ),
            broken(
                "what the supervisor asked for the tenant stays",
                "utils/a2a_common/server/commands/adopt.py::heirs_at",
                "tenant and theirs",
                "False",
                _ADOPTED,
            ),
            broken(
                "what the supervisor asked for others goes along",
                "utils/a2a_common/server/commands/adopt.py::heirs_at",
                "context in theirs",
                "True",
                _ADOPTED,
            ),
            broken(
                "what an earlier version asked about is asked again",
                "agents/github/changes/journal.py::Journal.ask",
                "(entry.former,)",
                '("",)',
                "tests/contract/stores/test_agent_stores.py::"
                "test_a_change_that_an_earlier_version_asked_about_is_found_again",
            ),
            broken(
                "a yes after it is for nothing",
                "agents/github/changes/tools.py::entry_of",
                'f"task {task}"',
                "thread",
                _ADOPTED,
            ),
        ),
    ),
)
