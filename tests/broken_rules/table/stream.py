"""The order and the number of things in a stream."""

from __future__ import annotations

from tests.broken_rules.rules import Break, Edit, Rule, broken

_EXECUTOR = "utils/a2a_common/execution/executor.py"
_HANDLER = "utils/a2a_common/handler/request_handler.py"
_PUBLISHER = "utils/a2a_common/execution/publisher.py"
_RESPONSE = "utils/a2a_common/execution/response_stream.py"
_GUARD = "utils/a2a_common/tasks/transitions.py"
_RUNNER = "utils/a2a_common/engine/turn_runner.py"

_LIFE = "tests/e2e/wire/test_life_cycle.py::"
_PIECES = "tests/e2e/wire/test_artifacts.py::"
_SAID = "tests/e2e/wire/test_events.py::"
_TURNS = "tests/e2e/agents/test_turns.py::"

STREAM: tuple[Rule, ...] = (
    Rule(
        "first-event",
        "The first event of a stream is the task.",
        (
            broken(
                "the executor begins with a status",
                _EXECUTOR + "::BaseLangGraphAgentExecutor.execute",
                "await publisher.task(_submitted(context, request), later=not self.begins_with_task)",
                "_ = _submitted(context, request)",
                _TURNS + "test_the_first_event_is_the_task_and_the_last_the_one_terminal_status",
            ),
            broken(
                "a silent executor's turn ends without a task",
                _RUNNER + "::_end",
                "await queue.append(submitted(turn))",
                "_ = submitted(turn)",
                _LIFE + "test_an_executor_that_ends_without_an_answer_fails_its_task",
                _LIFE + "test_an_exceptions_text_never_reaches_a_client",
            ),
        ),
    ),
    Rule(
        "one-end",
        "A turn has exactly one terminal or interrupted status.",
        (
            broken(
                "an executor may return while its task works",
                _RUNNER + "::_end",
                "await queue.append(failed_status(turn.task_id, turn.context_id, failed or failure(NoAnswer())))",
                "_ = failed_status, failed, failure, NoAnswer",
                _LIFE + "test_an_executor_that_ends_without_an_answer_fails_its_task",
            ),
            broken(
                "an agent that stops without a word completes",
                _EXECUTOR + "::BaseLangGraphAgentExecutor._work",
                "publisher.publish(failure(NoAnswer()))",
                "publisher._status(TaskState.TASK_STATE_COMPLETED)",
                _SAID + "test_an_agent_that_stops_without_an_end_fails_its_task",
            ),
            broken(
                "a task may step back to submitted",
                _GUARD + "::_status",
                "before == TaskState.TASK_STATE_WORKING",
                "before == TaskState.TASK_STATE_FAILED",
                _LIFE + "test_a_working_task_does_not_become_submitted_again",
            ),
        ),
    ),
    Rule(
        "nothing-after",
        "Nothing follows the terminal or interrupted status.",
        (
            broken(
                "the log takes what comes later",
                _GUARD + "::apply",
                "if not progress.open:\n    return Dropped.SETTLED",
                "_ = Dropped.SETTLED",
                _LIFE + "test_nothing_follows_a_question_and_the_reply_resumes_the_task",
                _TURNS + "test_an_agent_that_goes_on_after_the_end_is_not_heard",
            ),
            broken(
                "a canceled turn may still write",
                _RUNNER + "::TurnRunner.cancel",
                "await queue.append(canceled_status(task_id, context_id))",
                "_ = canceled_status",
                _LIFE + "test_a_cancel_ends_the_task_even_when_the_executor_says_nothing",
            ),
        ),
    ),
    Rule(
        "error-is-failed",
        "An error means failed, never completed.",
        (
            broken(
                "an exception of the agent completes the task",
                _EXECUTOR + "::BaseLangGraphAgentExecutor._work",
                "publisher.publish(failure_of(error))",
                "publisher._status(TaskState.TASK_STATE_COMPLETED, metadata={'code': failure_of(error).code})",
                _SAID + "test_an_error_of_the_agent_ends_the_task_as_failed_and_never_as_completed",
                _TURNS + "test_an_exceptions_text_never_reaches_the_client",
            ),
            broken(
                "an exception of an executor completes the task",
                "utils/a2a_common/tasks/statuses.py::failed_status",
                "TaskState.TASK_STATE_FAILED",
                "TaskState.TASK_STATE_COMPLETED",
                _LIFE + "test_an_exceptions_text_never_reaches_a_client",
            ),
            broken(
                "a turn whose every tool failed completes",
                "utils/a2a_common/graph/run/ended_calls.py::EndedCalls.failed",
                "not self.answers",
                "self.answers < 0",
                _TURNS + "test_an_agent_whose_every_needed_tool_failed_fails_with_that_code",
            ),
            broken(
                "`Failed` completes the task",
                _PUBLISHER + "::Publisher._fail",
                "TaskState.TASK_STATE_FAILED",
                "TaskState.TASK_STATE_COMPLETED",
                _SAID + "test_a_failure_is_the_one_terminal_status_with_code_sentence_and_trace_id",
            ),
        ),
    ),
    Rule(
        "text-once",
        "The text of an answer crosses the wire once.",
        (
            broken(
                "the last chunk repeats the whole answer",
                _RESPONSE + "::ResponseStream.flush",
                "text, self._buffer = (self._buffer, '')",
                "text, self._buffer = (self._buffer, '')\n"
                "self._said = getattr(self, '_said', '') + text\n"
                "text = self._said if last else text",
                _TURNS + "test_the_text_of_an_answer_crosses_the_wire_once",
            ),
            broken(
                "a final artifact repeats the answer",
                _RESPONSE + "::ResponseStream.flush",
                "await self._publish(self._chunk(text, append=append), append=append, last=last)",
                "await self._publish(self._chunk(text, append=append), append=append, last=last)\n"
                "if last:\n"
                "    await self._publish(self._chunk(text, append=False), append=False, last=True)",
                _TURNS + "test_the_text_of_an_answer_crosses_the_wire_once",
            ),
            broken(
                "the last status repeats the answer",
                _PUBLISHER + "::Publisher._complete",
                "self._end(TaskState.TASK_STATE_COMPLETED, metadata=short)",
                "self._end(TaskState.TASK_STATE_COMPLETED, agent_message('Once and only once.'), short)",
                _TURNS + "test_the_text_of_an_answer_crosses_the_wire_once",
            ),
            broken(
                "the model's whole message is said after its pieces",
                "utils/a2a_common/graph/run/graph_run.py::GraphRun.events",
                "for event in self._turn.translate(*part):\n    yield event",
                "for event in self._turn.translate(*part):\n"
                "    yield event\n"
                "for event in self._turn.translate(*part) if part[1] == 'messages' else ():\n"
                "    yield event",
                _TURNS + "test_the_text_of_an_answer_crosses_the_wire_once",
            ),
            broken(
                "a subscriber gets chunks of its snapshot again",
                _HANDLER + "::PlatformRequestHandler._as_it_is",
                "Course(task_id, owner, whole.sequence, whole.task, ended)",
                "Course(task_id, owner, 0, whole.task, ended)",
                _PIECES + "test_a_subscriber_gets_each_chunk_once_in_its_snapshot_or_after_it",
            ),
        ),
    ),
    Rule(
        "same-task",
        "Streamed and unary sends end in the same task.",
        (
            broken(
                "a unary answer comes without its artifacts' text",
                _HANDLER + "::PlatformRequestHandler._answer",
                "apply_history_length(shown, configuration)",
                "await self._tasks.head(course.task_id, course.owner)",
                _PIECES + "test_what_get_task_returns_is_what_was_streamed",
                _TURNS + "test_streamed_and_unary_sends_end_in_the_same_task",
            ),
            broken(
                "a task that is asked for comes without its artifacts' text",
                _HANDLER + "::PlatformRequestHandler.on_get_task",
                "apply_history_length(whole.task, params)",
                "await self._tasks.head(params.id, owner_of(context))",
                _PIECES + "test_what_get_task_returns_is_what_was_streamed",
                _TURNS + "test_streamed_and_unary_sends_end_in_the_same_task",
            ),
            broken(
                "an artifact that came again is added to the stored one",
                "utils/a2a_common/tasks/assembly.py::assemble",
                "known is None or not append",
                "known is None",
                _PIECES + "test_what_get_task_returns_is_what_was_streamed",
            ),
        ),
    ),
    Rule(
        "chunks",
        "Chunks: the first without append, the rest with it and the same id, the last with lastChunk.",
        (
            broken(
                "the first chunk appends",
                _RESPONSE + "::ResponseStream.flush",
                "self._opened",
                "True",
                _TURNS + "test_the_text_of_an_answer_crosses_the_wire_once",
            ),
            broken(
                "the last chunk does not say so",
                _RESPONSE + "::ResponseStream.flush",
                "self._publish(self._chunk(text, append=append), append=append, last=last)",
                "self._publish(self._chunk(text, append=append), append=append, last=False and last)",
                _TURNS + "test_chunks_begin_without_append_go_on_with_it_and_the_last_is_marked",
            ),
            broken(
                "every chunk says that it is the last",
                _RESPONSE + "::ResponseStream.flush",
                "self._publish(self._chunk(text, append=append), append=append, last=last)",
                "self._publish(self._chunk(text, append=append), append=append, last=True or last)",
                _TURNS + "test_chunks_begin_without_append_go_on_with_it_and_the_last_is_marked",
            ),
            broken(
                "the server drops append and lastChunk",
                _PUBLISHER + "::Publisher._send_artifact",
                "TaskArtifactUpdateEvent(task_id=self._task_id, context_id=self._context_id, artifact=artifact, append=append, last_chunk=last)",
                "TaskArtifactUpdateEvent(task_id=self._task_id, context_id=self._context_id, artifact=artifact, append=append, last_chunk=append and (not append) and last)",
                _TURNS + "test_chunks_begin_without_append_go_on_with_it_and_the_last_is_marked",
            ),
        ),
    ),
    Rule(
        "restart",
        "A run whose text was cut off or was no answer begins its artifact again with append=false.",
        (
            broken(
                "a remark before a tool call stays in the answer",
                "utils/a2a_common/graph/run/answer_text.py::AnswerText.ends",
                "self._restart = True",
                "pass",
                _TURNS + "test_a_remark_before_a_tool_call_is_replaced_by_the_answer",
            ),
            broken(
                "what comes after a restart is appended",
                _RESPONSE + "::ResponseStream.restart",
                "self._buffer = ''\nself._opened = False",
                "self._buffer = ''",
                _TURNS + "test_a_remark_before_a_tool_call_is_replaced_by_the_answer",
                "tests/e2e/resilience/test_recovery.py::test_a_broken_stream_is_replaced_by_the_whole_answer",
            ),
        ),
    ),
    Rule(
        "cancel",
        "A cancel stops the graph, and everything below: no model call begins after it is answered.",
        (
            Break(
                "a cancel changes the status and stops nothing",
                (
                    Edit(
                        _EXECUTOR + "::BaseLangGraphAgentExecutor.cancel",
                        "run.work.cancel()\nawait run.ended.wait()",
                        "_ = run.ended",
                    ),
                    # The SDK ends the executor's own coroutine, which takes its work along.
                    Edit(
                        _EXECUTOR + "::BaseLangGraphAgentExecutor.execute",
                        "run.work.cancel()\nawait asyncio.gather(run.work, return_exceptions=True)",
                        "_ = run.work",
                    ),
                ),
                (_TURNS + "test_a_canceled_task_starts_no_further_model_call",),
            ),
            broken(
                "sub-tasks go on",
                "multi_agents/platform_engineer/agent.py::PlatformEngineer.cancel_children",
                "await self._abandoned.end(task_id)",
                "_ = task_id",
                "tests/e2e/delegation/test_stopping.py::test_a_cancel_at_the_top_stops_three_levels_before_it_is_answered",
                "tests/e2e/agents/test_delegation.py::test_a_canceled_delegation_leaves_no_sub_task_working",
            ),
            broken(
                "sub-tasks that wait for the user go on",
                "utils/persistence/delegations.py::DelegationStore.abandon",
                "return _found(connection, 'parent_task_id = ?', parent_task_id)",
                "return []",
                "tests/e2e/delegation/test_relay.py::test_canceling_a_task_that_waits_cancels_what_waits_below",
            ),
        ),
    ),
)
