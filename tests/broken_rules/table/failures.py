"""Failures of earlier systems that must stay impossible, 1 to 9."""

from __future__ import annotations

from tests.broken_rules.rules import Break, Edit, Rule, broken

_BOUNDARY = "utils/a2a_common/graph/tools/boundary.py"
_DELEGATION = "multi_agents/platform_engineer/delegation.py"
_GUARD = "utils/a2a_common/tasks/transitions.py"
_REMOTE = "utils/a2a_common/client/delegation/remote_agent.py"
_TURN = "utils/a2a_common/graph/run/stream_translator.py"

_APART = "tests/e2e/agents/test_apart.py::"
_LIFE = "tests/e2e/wire/test_life_cycle.py::"
_REACH = "tests/e2e/delegation/test_reaching.py::"
_TEAM = "tests/e2e/agents/test_delegation.py::"
_TURNS = "tests/e2e/agents/test_turns.py::"

FAILURES: tuple[Rule, ...] = (
    Rule(
        "fail-01",
        "An answer that was streamed is not repeated in a final artifact.",
        (
            broken(
                "a second artifact holds the whole answer",
                "utils/a2a_common/execution/publisher.py::Publisher._end",
                "self.ended = True",
                "self.ended = True\n"
                "from a2a.types.a2a_pb2 import Artifact, Part\n"
                "whole = Artifact(artifact_id='final_result', parts=[Part(text='Same answer.')])\n"
                "await self._artifact(whole, append=False, last=True)",
                _TURNS + "test_streamed_and_unary_sends_end_in_the_same_task",
            ),
        ),
    ),
    Rule(
        "fail-02",
        "What a sub-agent returns is input to the supervisor's answer, never the answer by accident.",
        (
            broken(
                "the results of tools are said as text",
                _TURN + "::StreamTranslator.translate",
                "metadata.get('langgraph_node') == MODEL_NODE and isinstance(message, AIMessage) and (not asks_user(message))",
                "metadata and isinstance(message, BaseMessage)",
                _TEAM
                + "test_a_sub_agents_final_artifact_is_material_and_the_supervisors_words_are_the_answer",
            ),
            broken(
                "the supervisor's synthesis is lost: a delegation ends the turn",
                _DELEGATION + "::Delegation._tool",
                "StructuredTool.from_function(coroutine=delegate, name=agent.name, description=description_of(agent), args_schema=DelegationInput, metadata={'examples': agent.examples, 'summary': agent.summary, DELEGATION: True, READ_ONLY: agent.only_reads})",
                "StructuredTool.from_function(coroutine=delegate, name=agent.name, description=description_of(agent), args_schema=DelegationInput, return_direct=True, metadata={'examples': agent.examples, 'summary': agent.summary, DELEGATION: True, READ_ONLY: agent.only_reads})",
                _TEAM
                + "test_a_sub_agents_final_artifact_is_material_and_the_supervisors_words_are_the_answer",
                _TEAM + "test_independent_sub_tasks_run_in_parallel_and_the_answer_uses_both",
            ),
        ),
    ),
    Rule(
        "fail-03",
        "A completed task never fails after all.",
        (
            broken(
                "the log lets `Failed` follow `Completed`",
                _GUARD + "::_after",
                "state in SETTLED",
                "state in SETTLED and state != TaskState.TASK_STATE_COMPLETED",
                _LIFE + "test_nothing_follows_a_terminal_state",
                _TURNS + "test_an_agent_that_goes_on_after_the_end_is_not_heard",
            ),
        ),
    ),
    Rule(
        "fail-04",
        "An agent that asked its user does not go on talking.",
        (
            broken(
                "a question settles nothing",
                _GUARD + "::_after",
                "waits = state == TaskState.TASK_STATE_AUTH_REQUIRED",
                "waits = state in (TaskState.TASK_STATE_AUTH_REQUIRED, TaskState.TASK_STATE_INPUT_REQUIRED)",
                _LIFE + "test_nothing_follows_a_question_and_the_reply_resumes_the_task",
                _TURNS + "test_an_agent_that_goes_on_after_the_end_is_not_heard",
            ),
        ),
    ),
    Rule(
        "fail-05",
        "Types decide, not text: an answer that quotes an error or a tool notice is an answer.",
        (
            broken(
                "an answer with the word Error: fails",
                _TURN + "::StreamTranslator.finish",
                "self._end.event(has_text=self.has_text)",
                "self._end.event(has_text=self.has_text and 'Error:' not in self._text.text)",
                _TURNS + "test_an_answer_that_quotes_an_error_is_an_answer",
            ),
            broken(
                "text with a check mark is taken for a notice and left out",
                "utils/a2a_common/graph/run/answer_text.py::AnswerText.add",
                "not shown.text",
                "not shown.text or '✅' in shown.text",
                _TURNS + "test_an_answer_that_quotes_an_error_is_an_answer",
            ),
            broken(
                "a sub-agent's answer that quotes an error is a failure",
                _REMOTE + "::RemoteAgent.run",
                "return self._checked(task)",
                "if 'Error' in task.text():\n    raise DelegationFailed(f'The {self._name} agent failed.')\nreturn self._checked(task)",
                _TEAM + "test_a_sub_agents_answer_that_quotes_an_error_is_an_answer",
            ),
        ),
    ),
    Rule(
        "fail-06",
        "An empty model stream is a sentence, not an exception and not an empty answer.",
        (
            Break(
                "no text completes",
                (
                    Edit(
                        "utils/a2a_common/graph/run/turn_end.py::TurnEnd.event",
                        "not has_text and (not self.added)",
                        "False",
                    ),
                    Edit(
                        "utils/resilience/recover.py::_answered",
                        "_read(response, tools, broken=watch.broken)",
                        "response",
                    ),
                ),
                (_TURNS + "test_an_empty_model_stream_fails_with_a_sentence",),
            ),
            broken(
                "the library's exception is told",
                "utils/a2a_common/tasks/statuses.py::failure_of",
                "return unforeseen()",
                "return Failed(INTERNAL, str(error))",
                _TURNS + "test_an_exceptions_text_never_reaches_the_client",
            ),
        ),
    ),
    Rule(
        "safe-errors",
        "Text of an exception never reaches a client; it gets a code, a sentence and the trace id.",
        (
            broken(
                "the boundary tells an executor's exception",
                "utils/a2a_common/tasks/statuses.py::failure_of",
                "return unforeseen()",
                "return Failed(INTERNAL, repr(error))",
                _LIFE + "test_an_exceptions_text_never_reaches_a_client",
            ),
            broken(
                "a tool's exception is told to the model, and by it to the user",
                _BOUNDARY + "::_problem_message",
                "TOOL_CRASHED.format(tool=name)",
                "str(error)",
                _TURNS + "test_a_bug_in_a_tool_shows_no_detail_to_model_or_client",
            ),
            broken(
                "a request that fails outside of a turn tells why",
                "utils/a2a_common/handler/operation.py::public_error",
                "SERVER_CRASHED",
                "str(error)",
                "tests/e2e/wire/test_hidden_errors.py::test_a_broken_store_shows_nothing_of_itself_over_any_binding",
            ),
            broken(
                "a stream that fails midway tells why",
                "utils/a2a_common/handler/operation.py::shown_errors",
                "public_error(error, trace_id_in(trace_of_call(call)))",
                "InternalError(str(error))",
                "tests/e2e/wire/test_hidden_errors.py::test_a_stream_that_fails_midway_ends_with_an_error_that_shows_nothing",
            ),
            broken(
                "a failure has no trace id",
                "utils/a2a_common/execution/publisher.py::Publisher._fail",
                "error_payload(event, self.trace_id)",
                "error_payload(event, '')",
                _TURNS + "test_an_exceptions_text_never_reaches_the_client",
            ),
        ),
    ),
    Rule(
        "fail-07",
        "A sub-agent's `failed` is never read as success.",
        (
            broken(
                "a failed remote task is an answer",
                _REMOTE + "::RemoteAgent.run",
                "return self._checked(task)",
                "return task if task.state is DelegationState.FAILED else self._checked(task)",
                _TEAM + "test_a_failed_sub_agent_is_never_read_as_success",
            ),
            broken(
                "every state of a remote task is success",
                _REMOTE + "::RemoteAgent.run",
                "self._checked(task)",
                "task",
                _TEAM + "test_a_failed_sub_agent_is_never_read_as_success",
            ),
        ),
    ),
    Rule(
        "fail-08",
        "A request is not sent again because its stream had no text or broke off.",
        (
            broken(
                "no text: once more",
                _REMOTE + "::RemoteAgent._follow",
                "events = follow_message(self.connection, call.message(signed=self.connection.knows_senders), maybe_sent=call.maybe_sent, "
                "known_task=call.known_task, patience=_patience(call), on_unread=self._note_unread)",
                "async for event in follow_message(self.connection, call.message(signed=self.connection.knows_senders)):\n"
                "    task.apply(event)\n"
                "if task.text():\n"
                "    return\n"
                "events = follow_message(self.connection, call.message(signed=self.connection.knows_senders), maybe_sent=call.maybe_sent, "
                "known_task=call.known_task, patience=_patience(call), on_unread=self._note_unread)",
                _REACH + "test_an_agent_that_completes_without_a_word_is_not_asked_again",
            ),
            broken(
                "a stream that breaks off: once more",
                "utils/a2a_common/client/stream/follow.py::follow_message",
                "following.resumed()",
                "following.sent(message, maybe_sent=False)",
                "tests/e2e/delegation/test_broken_lines.py::test_a_stream_that_breaks_is_taken_up_again_and_nothing_runs_twice",
            ),
            broken(
                "an agent that cannot tell whether it was asked: once more",
                "utils/a2a_common/client/stream/arrival.py::look_for",
                "bool(tasks) and all(map(_shows_messages, tasks))",
                "True",
                "tests/unit/client/test_lost_answers.py::"
                "test_no_message_is_sent_again_of_which_nobody_can_tell_whether_it_arrived",
            ),
            broken(
                "an agent that failed over a message: once more, if it lists no task of it",
                "utils/a2a_common/client/stream/follow.py::_Following._sought",
                "isinstance(lost, FailedInside)",
                "False",
                "tests/unit/client/test_lost_answers.py::"
                "test_an_agent_that_failed_over_a_message_is_not_sent_it_again",
            ),
        ),
    ),
    Rule(
        "fail-09",
        "A delegation goes on in the remote conversation of its own.",
        (
            broken(
                "a request goes where a question is open",
                "multi_agents/platform_engineer/remote_conversations.py::RemoteConversations._context_for",
                "return apart",
                "return own",
                "tests/e2e/delegation/test_one_agent_twice.py::"
                "test_each_of_several_requests_to_one_agent_gets_the_answer_to_its_own_question",
            ),
            broken(
                "each delegation has a fresh remote context",
                _DELEGATION + "::Delegation._begin",
                "await self._contexts.use(request.thread_id, name, person)",
                "cause.id",
                _TEAM + "test_the_same_remote_conversation_is_used_by_every_delegation_of_a_context",
            ),
            broken(
                "all conversations share one remote context",
                "utils/persistence/contexts.py::RemoteContexts.use.write",
                "first_id(thread_id, agent, times[0] if times else 0)",
                "first_id('', agent, times[0] if times else 0)",
                _APART + "test_two_conversations_have_two_remote_ones",
            ),
        ),
    ),
)
