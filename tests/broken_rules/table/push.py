"""Webhooks of tasks, and messages that are sent again."""

from __future__ import annotations

from tests.broken_rules.rules import Rule, broken

_STORE = "utils/a2a_common/server/push/store.py"
_SENDER = "utils/a2a_common/server/push/sender.py::"
_PUSHED = "tests/e2e/wire/test_push.py::"
_REPEATS = "utils/a2a_common/handler/pending_input.py"
_AGAIN = "tests/contract/handler/test_repeats.py::"
_RESTART = "tests/e2e/wire/test_push_restart.py::"
_OWNED = _RESTART + "test_a_config_has_its_owner_after_a_restart_and_what_was_deleted_stays_so"

PUSH: tuple[Rule, ...] = (
    Rule(
        "push-kept",
        "A webhook outlives the process, with its owner, in a file that only we may read.",
        (
            broken(
                "what is stored is not read",
                _STORE + "::SqlitePushConfigs._load",
                "await self._database.read(_all)",
                "(await self._database.read(_all))[:0]",
                _RESTART + "test_a_webhook_hears_of_the_answer_that_comes_after_a_restart",
                _RESTART + "test_an_agent_keeps_its_webhooks_in_its_home",
            ),
            broken(
                "what was deleted comes back",
                _STORE + "::SqlitePushConfigs.delete",
                "'DELETE FROM push_configs WHERE owner = ? AND task_id = ? AND id = ?'",
                "'DELETE FROM push_configs WHERE owner = ? AND task_id = ? AND id = ? AND 0'",
                _OWNED,
            ),
            broken(
                "after a restart everybody owns it",
                _STORE + "::readable",
                "Webhook(owner, config, sent, version)",
                'Webhook(\'["", ""]\' if owner else owner, config, sent, version)',
                _OWNED,
            ),
            broken(
                "everybody may read the file",
                _STORE,
                "_PRIVATE = 384",
                "_PRIVATE = 420",
                _RESTART + "test_a_webhook_hears_of_the_answer_that_comes_after_a_restart",
            ),
            broken(
                "an agent keeps them in memory",
                "utils/a2a_common/server/agent_storage.py::push_configs",
                "SqlitePushConfigs(runtime.folder / StoreFile.PUSH, runtime.codec)",
                "SqlitePushConfigs.__mro__[1]()",
                _RESTART + "test_an_agent_keeps_its_webhooks_in_its_home",
            ),
        ),
    ),
    Rule(
        "push-away",
        "A webhook that is away is told how a turn ended once it is back, and is given up after its time.",
        (
            broken(
                "it is given up after a few tries",
                _SENDER + "PushSender._wait_or_give_up",
                "lasts and failure.is_away and webhook.sent is not None",
                "False",
                _PUSHED + "test_a_webhook_that_is_away_for_a_while_hears_how_the_turn_ended_once",
            ),
            broken(
                "it is tried for ever",
                _SENDER + "_Lane.next_pause",
                "not self.patience.allows(pause)",
                "False",
                _PUSHED + "test_a_webhook_that_stays_away_is_given_up_after_its_time",
            ),
        ),
    ),
    Rule(
        "push-ends",
        "A webhook hears the end of its task, also where a process was killed before it was sent.",
        (
            broken(
                "a start does not go on with what was not sent",
                "utils/a2a_common/server/push/sender.py::PushSender._follow_unfinished",
                "self._configs.unfinished()",
                "self._configs.unfinished()[:0]",
                _RESTART + "test_a_webhook_hears_an_end_that_its_process_was_killed_before_it_sent",
            ),
            broken(
                "that an end was sent is not stored",
                "utils/a2a_common/server/push/sender.py::PushSender._note",
                "await self._note_sent(webhook, None)",
                "webhook.sent = None",
                _RESTART + "test_a_webhook_hears_an_end_that_its_process_was_killed_before_it_sent",
            ),
            broken(
                "a webhook that is far behind loses events",
                "utils/a2a_common/server/push/sender.py::PushSender._send",
                "webhook.sent is None or entry.sequence <= webhook.sent",
                "webhook.sent is None or entry.sequence <= webhook.sent or entry.sequence == 100",
                "tests/e2e/wire/test_push.py::test_a_webhook_that_is_far_behind_hears_every_event_in_order",
            ),
        ),
    ),
    Rule(
        "repeats",
        "A message that is sent again runs once, unless its task failed and may be retried.",
        (
            broken(
                "a task that failed retryably answers for its message for good",
                _REPEATS + "::failed_retryably",
                "parse_error(json_format.MessageToDict(payload)).retryable",
                "False",
                _AGAIN + "test_a_message_whose_task_failed_retryably_runs_again_as_a_new_task",
            ),
            broken(
                "every failed task runs again",
                _REPEATS + "::failed_retryably",
                "parse_error(json_format.MessageToDict(payload)).retryable",
                "True",
                _AGAIN + "test_a_message_whose_task_failed_for_good_does_not_run_again",
            ),
            broken(
                "messages that come at once do not wait for each other",
                "utils/a2a_common/handler/admission.py::Admission.admit",
                "self._locks.of",
                "KeyedLocks().of",
                _AGAIN + "test_an_answer_to_a_question_that_is_sent_again_runs_once",
            ),
        ),
    ),
)
