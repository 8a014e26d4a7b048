"""A turn whose process died goes on: nothing that had finished is done again."""

from __future__ import annotations

from tests.broken_rules.rules import Rule, broken

_RECORDER = "utils/a2a_common/graph/tools/call_recorder.py::CallRecorder"
_RUN = "utils/a2a_common/graph/run/graph_run.py::GraphRun"
_KILLED = "tests/e2e/resume/test_killed_turns.py::"
_DELEGATED = "tests/e2e/resume/test_killed_delegations.py::"

RESUME: tuple[Rule, ...] = (
    Rule(
        "resume-tools",
        "A tool call of a recovered turn is answered from the record, and repeated only where that does no harm.",
        (
            broken(
                "the outcome is not recorded",
                _RECORDER + ".finish",
                "await self._record.finish(self._key, encode(outcome))",
                "_ = encode",
                _KILLED + "test_a_tool_that_ended_before_its_checkpoint_is_answered_from_the_record",
            ),
            broken(
                "the begin is not recorded",
                _RECORDER + ".begin",
                "await self._record.begin(self._key)",
                "_ = self._key",
                _KILLED + "test_another_tool_that_was_cut_off_is_not_run_again_and_the_model_is_told",
            ),
            broken(
                "every tool counts as read-only",
                "utils/messages/repeatable.py::may_repeat",
                "marks.get(READ_ONLY) is True or marks.get(REPEATABLE) is True",
                "marks is not None",
                _KILLED + "test_another_tool_that_was_cut_off_is_not_run_again_and_the_model_is_told",
            ),
            broken(
                "what a tool published is forgotten",
                "utils/a2a_common/graph/tools/boundary.py::_recorded",
                "CallOutcome(result, events)",
                "CallOutcome(result)",
                _KILLED + "test_a_tool_that_ended_before_its_checkpoint_is_answered_from_the_record",
            ),
        ),
    ),
    Rule(
        "resume-point",
        "A recovered turn goes on from its last checkpoint.",
        (
            broken(
                "it begins with its message",
                _RUN + "._entry",
                "if self.goes_on:\n    return None",
                "",
                _KILLED + "test_a_tool_that_ended_before_its_checkpoint_is_answered_from_the_record",
            ),
            broken(
                "a finished graph is run once more",
                "utils/a2a_common/graph/run/recovery.py::_point",
                "ResumePoint.CHECKPOINT if state.tasks else ResumePoint.FINISHED",
                "ResumePoint.CHECKPOINT",
                "tests/unit/graph/test_recovery.py::test_a_graph_without_a_step_to_run_has_finished",
            ),
            broken(
                "a graph whose step is stored and not yet checkpointed is taken for finished",
                "utils/a2a_common/graph/run/recovery.py::_point",
                "state.tasks",
                "state.next",
                _KILLED + "test_a_models_answer_that_is_stored_without_its_checkpoint_goes_on_with_its_tools",
            ),
            broken(
                "tokens of the killed process are not counted",
                _RUN + ".open",
                "self._recall(self._recovery)",
                "_ = self._recall",
                _KILLED + "test_tokens_of_the_killed_process_are_counted_once",
            ),
            broken(
                "an answer that is stored without its checkpoint is counted twice",
                "utils/a2a_common/graph/run/turn_usage.py::TurnUsage.count",
                "answer.id in self._counted",
                "False",
                _KILLED + "test_tokens_of_the_killed_process_are_counted_once",
            ),
        ),
    ),
    Rule(
        "resume-standstill",
        "A process that stands still in the middle of a write holds up nobody who takes over its turn for long.",
        (
            broken(
                "it keeps its locks as long as it stands",
                "utils/persistence/postgres/pool.py::PostgresPool.session",
                "(seconds, STANDSTILL_SECONDS)",
                "(seconds, 0)",
                "tests/contract/stores/test_session_settings.py::"
                "test_a_transaction_whose_process_says_no_more_ends_and_gives_up_its_locks",
            ),
        ),
    ),
    Rule(
        "resume-delegations",
        "A delegation of a recovered turn is followed, and sent and counted once.",
        (
            broken(
                "its tokens are not counted",
                "multi_agents/platform_engineer/agent.py::PlatformEngineer._counted",
                "replace(request, used={**request.used, **used})",
                "request",
                _DELEGATED + "test_a_delegation_that_had_ended_is_neither_sent_nor_counted_again",
            ),
            broken(
                "the remote task of a turn that is not resumed is left alone",
                "multi_agents/platform_engineer/agent.py::PlatformEngineer.cancel_children",
                "await self._abandoned.end(task_id)",
                "_ = task_id",
                _DELEGATED + "test_a_remote_task_of_a_turn_that_is_not_resumed_does_not_stay_working",
            ),
        ),
    ),
    Rule(
        "resume-busy",
        "A busy or restarting agent is waited for, with the same message, and has not failed.",
        (
            broken(
                "a busy agent is a broken one",
                "utils/a2a_common/client/transport/errors.py::typed",
                "if (seconds := retry_after_of(error.__cause__ or error)) is not None:\n    return AgentBusy(seconds)",
                "",
                "tests/unit/client/test_follow.py::"
                "test_a_busy_agent_is_sent_the_same_message_again_after_the_time_that_it_names",
            ),
            broken(
                "a message to an agent that restarts is given up after three tries",
                "utils/a2a_common/client/stream/follow.py::_Following.sent",
                "isinstance(lost, ConnectionLost) and self._clock() + seconds < back_by",
                "False",
                "tests/unit/client/test_follow.py::"
                "test_an_agent_that_restarts_is_sent_the_message_until_it_is_back_and_the_wait_is_told",
            ),
            broken(
                "an answer does not wait for an agent that restarts",
                "multi_agents/platform_engineer/delegation.py::Delegation.until_reached",
                "left <= 0",
                "left >= 0",
                "tests/e2e/delegation/test_restarting.py::"
                "test_an_answer_to_an_agent_that_restarts_waits_for_it_and_says_so",
            ),
            broken(
                "an answer that its agent was never given fails the delegation",
                "utils/a2a_common/client/delegation/remote_agent.py::RemoteAgent._failure",
                "call.task_id and never_taken(error)",
                "False",
                "tests/e2e/delegation/test_restarting.py::"
                "test_the_question_of_an_agent_that_does_not_come_back_is_asked_again_and_can_be_answered_later",
            ),
            broken(
                "a look that does not arrive counts as an answer that does not",
                "utils/a2a_common/client/stream/undelivered.py::perhaps_taken",
                "message.task_id",
                "False",
                "tests/unit/client/test_lost_answers.py::"
                "test_an_agent_that_took_an_answer_and_does_not_tell_of_it_may_have_done_its_work",
            ),
            broken(
                "an agent that lost its tasks has done nothing with an answer",
                "utils/a2a_common/client/stream/undelivered.py::is_forgotten",
                "bool(message.task_id)",
                "False",
                "tests/unit/client/test_lost_answers.py::"
                "test_an_agent_that_lost_its_tasks_and_may_have_taken_an_answer_before_may_have_done_its_work",
            ),
            broken(
                "an agent that was gone at the last look counts as gone without another one",
                "utils/a2a_common/client/agents/registry.py::SubAgentRegistry.is_back",
                "return self._agents[name].reachable",
                "return False",
                "tests/e2e/delegation/test_restarting.py::"
                "test_the_question_of_an_agent_that_does_not_come_back_is_asked_again_and_can_be_answered_later",
            ),
            broken(
                "an agent that is gone for good is always expected back",
                "utils/a2a_common/client/agents/absence.py::Absence.left",
                "self._clock() - self._since",
                "0.0",
                "tests/unit/client/test_absence.py::"
                "test_an_agent_is_expected_back_for_a_while_after_it_was_missed_and_not_longer",
            ),
            broken(
                "time-outs of turns open the breaker",
                "utils/a2a_common/client/agents/bulkhead.py::Bulkhead._watched",
                "error.code == _TIMED_OUT and self._reachable()",
                "False",
                "tests/unit/delegation/test_breaker.py::"
                "test_calls_that_come_to_their_deadline_do_not_open_it_while_the_agent_is_seen_up",
            ),
        ),
    ),
    Rule(
        "resume-away",
        "What is away for now is said to be, with when to come again; what is gone is said to be gone.",
        (
            broken(
                "a database that is away is a failure like any other",
                "utils/a2a_common/handler/operation.py::public_error",
                "RetryLater | StorageAway",
                "RetryLater",
                "tests/e2e/wire/test_storage_faults.py::"
                "test_a_message_that_cannot_be_stored_at_all_is_refused_and_taken_later",
            ),
            broken(
                "an agent that has deleted its question refuses like any other",
                "utils/a2a_common/client/delegation/remote_agent.py::RemoteAgent._failure",
                "call.task_id and isinstance(error, RequestRefused) and error.unknown_task",
                "False",
                "tests/e2e/delegation/test_shorter_retention.py::"
                "test_an_answer_to_a_question_that_its_agent_has_deleted_tells_the_user_so_and_what_to_do",
            ),
            broken(
                "a replica stamps what it stores by its own clock",
                "utils/persistence/postgres/clock.py::DatabaseClock.note",
                "0.0 if near else (least + most) / 2",
                "0.0",
                "tests/unit/persistence/test_database_clock.py::"
                "test_a_clock_that_is_wrong_tells_the_time_of_the_database",
            ),
        ),
    ),
)
