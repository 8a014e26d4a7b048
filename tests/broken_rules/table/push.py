"""Webhooks of tasks."""

from __future__ import annotations

from tests.broken_rules.rules import Rule, broken

_STORE = "utils/a2a_common/server/push_store.py"
_RESTART = "tests/e2e/wire/test_push_restart.py::"
_OWNED = _RESTART + "test_a_config_has_its_owner_after_a_restart_and_what_was_deleted_stays_so"

PUSH: tuple[Rule, ...] = (
    Rule(
        "push-kept",
        "A webhook outlives the process, with its owner, in a file that only we may read.",
        (
            broken(
                "what is stored is not read",
                _STORE + "::SqlitePushConfigs.open",
                "for owner, task_id, body in rows:\n"
                "    tasks = self._push_notification_infos.setdefault(owner, {})\n"
                "    tasks.setdefault(task_id, []).append(TaskPushNotificationConfig.FromString(body))",
                "for owner, task_id, body in rows[:0]:\n"
                "    tasks = self._push_notification_infos.setdefault(owner, {})\n"
                "    tasks.setdefault(task_id, []).append(TaskPushNotificationConfig.FromString(body))",
                _RESTART + "test_a_webhook_hears_of_the_answer_that_comes_after_a_restart",
                _RESTART + "test_an_agent_keeps_its_webhooks_in_its_home",
            ),
            broken(
                "what was deleted comes back",
                _STORE + "::SqlitePushConfigs.delete_info",
                "await self._database.write(lambda db: _nothing(db.execute(statement, values)))",
                "_ = (statement, values)",
                _OWNED,
            ),
            broken(
                "after a restart everybody owns it",
                _STORE + "::SqlitePushConfigs.open",
                "self._push_notification_infos.setdefault(owner, {})",
                'self._push_notification_infos.setdefault(\'["", ""]\' if owner else owner, {})',
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
                "utils/a2a_common/server/agent_process.py::agent_app",
                "SqlitePushConfigs(agent.runtime.home / 'push.sqlite', owner_of)",
                "SqlitePushConfigs and None",
                _RESTART + "test_an_agent_keeps_its_webhooks_in_its_home",
            ),
        ),
    ),
)
