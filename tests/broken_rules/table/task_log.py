"""What the log of tasks keeps."""

from __future__ import annotations

from tests.broken_rules.rules import Rule, broken

_FENCE = "utils/persistence/task_log_store.py::_refusal"
_TRANSITIONS = "utils/a2a_common/tasks/transitions.py"
_BACKLOG = "utils/a2a_common/tasks/backlog.py::Backlog"
_WRITER = "utils/a2a_common/tasks/writer.py::TaskWriter"
_LOG = "utils/a2a_common/tasks/log.py::TaskLog"

_STORES = "tests/contract/stores/test_task_log_store.py::"
_LOGS = "tests/unit/tasks/test_log.py::"
_MOVES = "tests/unit/tasks/test_transitions.py::"
_FAULTS = "tests/unit/tasks/test_storage_faults.py::"
_LONG = "tests/unit/tasks/test_long_answers.py::"

TASK_LOG: tuple[Rule, ...] = (
    Rule(
        "log-fence",
        "An attempt that was taken over writes nothing more.",
        (
            broken(
                "the store takes what any attempt writes",
                _FENCE,
                "if stored is None or stored.attempt != write.attempt:\n    return Refusal.ATTEMPT",
                "if stored is None:\n    return Refusal.ATTEMPT",
                _STORES + "test_each_claim_is_a_later_attempt_and_fences_off_the_one_before",
                _LOGS + "test_another_process_fences_off_a_writer_and_cuts_its_readers",
            ),
            broken(
                "two attempts share their numbers",
                _WRITER + ".__init__",
                "attempt * NUMBERS if live.last else 0",
                "live.last",
                _LOGS + "test_no_event_of_a_later_attempt_has_the_number_of_one_that_was_lost",
            ),
        ),
    ),
    Rule(
        "log-one-end",
        "A task has one terminal status, and nothing follows it.",
        (
            broken(
                "the store takes a second end",
                _FENCE,
                "if stored.row is not None and stored.row.state in TERMINAL:\n    return Refusal.ENDED",
                "pass",
                _STORES + "test_nothing_follows_a_terminal_status_not_even_another_end",
            ),
            broken(
                "the guard lets events after the end through",
                _TRANSITIONS + "::apply",
                "if not progress.open:\n    return Dropped.SETTLED",
                "pass",
                _MOVES + "test_a_terminal_status_is_the_last_event",
                _LOGS + "test_what_comes_after_the_end_is_refused",
            ),
            broken(
                "an end is shown before it is stored",
                _WRITER + "._add",
                "if applied.starts or applied.settles:\n    item.held, item.head = entry, head",
                "if applied.starts:\n    item.held, item.head = entry, head",
                _LOGS + "test_readers_see_a_chunk_at_once_and_the_end_only_when_it_is_stored",
            ),
        ),
    ),
    Rule(
        "log-storage",
        "A write that fails ends its own task, with a code and a sentence, and no other; its end is stored in the end.",
        (
            broken(
                "a batch that failed counts as stored",
                _BACKLOG + "._is_stored",
                "if not _holds(stored, write):\n    self._outcomes.failed(error)\n    return False",
                "pass",
                _FAULTS
                + "test_a_lock_longer_than_that_fails_each_task_with_a_sentence_and_their_ends_are_stored_later",
            ),
            broken(
                "nobody asks whether a write is stored whose answer was lost",
                _BACKLOG + "._is_stored",
                "if not _holds(stored, write):\n    self._outcomes.failed(error)\n    return False",
                "self._outcomes.failed(error)\nreturn False",
                _LOGS + "test_a_write_whose_answer_was_lost_is_found_and_fails_nothing",
            ),
            broken(
                "the end of a failed task is not kept",
                _WRITER + "._keep_end",
                "self._context.ends.keep(UnwrittenEnd(self._end(item), stored, dropped))",
                "_ = UnwrittenEnd(self._end(item), stored, dropped)",
                _LOGS + "test_the_end_of_a_failed_task_is_tried_until_it_is_stored",
            ),
        ),
    ),
    Rule(
        "log-readers",
        "Every reader gets each event once, at its own pace.",
        (
            broken(
                "a reader far behind skips what left the memory",
                _LOG + "._next",
                "if cursor < live.floor:\n"
                "    entries = await self._stored_entries(live, cursor)\n"
                "    if not entries:\n"
                "        cursor = live.floor\n"
                "        continue\n"
                "else:\n"
                "    entries = live.after(cursor)",
                "entries = live.after(cursor)",
                _LONG + "test_a_reader_far_behind_reads_from_the_store_and_misses_nothing",
            ),
            broken(
                "a snapshot lacks what is not stored yet",
                "utils/a2a_common/tasks/content.py::Content.fill",
                "[*await self._records(task.id, stored), *waiting]",
                "[*await self._records(task.id, stored), *waiting[:0]]",
                _LOGS + "test_a_snapshot_and_the_events_after_it_are_the_whole_task",
            ),
        ),
    ),
)
