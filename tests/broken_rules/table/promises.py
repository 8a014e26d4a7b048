"""What earlier systems promised of recovery and delegation, each by its number in docs/systems/delegation.md."""

from __future__ import annotations

from tests.broken_rules.rules import Break, Edit, Rule, broken

_LEDGER = "utils/resilience/ledger.py"
_QUEUE = "utils/a2a_common/engine/event_queue.py::LogQueue"
_QUEUES = "tests/unit/engine/test_event_queue.py::"
_PUBLISHER = "utils/a2a_common/execution/publisher.py::Publisher"
_CLASSIFY = "utils/llm/classify.py"
_ENGINEER = "multi_agents/platform_engineer/agent.py::PlatformEngineer"

_RECOVERY = "tests/e2e/resilience/test_recovery.py::"
_CLOSING = "tests/e2e/resilience/test_queue_closure.py::"
_FLOW = "tests/e2e/delegation/test_flow.py::"
_STAYS_EMPTY = _RECOVERY + "test_a_model_that_stays_empty_fails_with_a_sentence_and_loses_nothing"
_SENTENCES = "tests/unit/llm/test_classify.py::test_what_a_user_reads_of_a_models_failure_is_a_sentence_and_no_exception"
_BOTH_ERRORS = (
    "tests/e2e/resilience/test_supervisor.py::"
    "test_after_an_orphan_and_an_overflow_the_supervisor_answers_and_knows_the_conversation"
)

PROMISES: tuple[Rule, ...] = (
    Rule(
        "promise-0.10",
        "Each orphaned tool call gets a synthetic result in the stored conversation.",
        (
            broken(
                "only requests are repaired",
                _LEDGER + "::close_open_calls",
                "not names",
                "names or not names",
                "tests/e2e/resilience/test_interrupted_calls.py::test_orphaned_tool_call_recovery",
            ),
        ),
    ),
    Rule(
        "promise-0.12",
        "A request that is too long is made smaller and sent again.",
        (
            broken(
                "it fails",
                "utils/context/middleware.py::ContextMiddleware.awrap_model_call",
                "not isinstance(overflow, ContextOverflow)",
                "isinstance(overflow, ContextOverflow) or overflow is None",
                _RECOVERY + "test_a_window_that_is_smaller_than_believed_is_learnt_and_the_question_answered",
            ),
        ),
    ),
    Rule(
        "promise-0.13",
        "After an orphan and an overflow the supervisor answers, and the conversation is there.",
        (
            broken(
                "an orphan ends the turn",
                "utils/resilience/recover.py::ModelRecovery._next",
                "retry is None",
                "retry is None or failure.code == 'orphaned_tool_call'",
                _BOTH_ERRORS,
            ),
            Break(
                "an overflow costs the conversation",
                (
                    Edit(
                        "utils/context/middleware.py::ContextMiddleware.awrap_model_call",
                        "not isinstance(overflow, ContextOverflow)",
                        "overflow is not None",
                    ),
                    Edit(
                        "utils/resilience/recover.py::ModelRecovery._changed",
                        "retry.compact",
                        "retry.compact and not request.override(messages=request.messages[-1:])",
                    ),
                ),
                (_BOTH_ERRORS,),
            ),
        ),
    ),
    Rule(
        "promise-0.14",
        "What a user reads of a failure is a sentence.",
        (
            broken(
                "it is the text of an exception",
                _CLASSIFY,
                'EMPTY = "The model answered with nothing."',
                'EMPTY = "ValueError: No generations found in stream"',
                _STAYS_EMPTY,
                _SENTENCES,
            ),
        ),
    ),
    Rule(
        "promise-0.16",
        "Every event of an agent passes one guard.",
        (
            broken(
                "the task does not",
                _PUBLISHER + ".task",
                "await self._safe_enqueue_event(self._queue, task)",
                "await self._queue.enqueue_event(task)",
                "tests/e2e/wire/test_one_guard.py::"
                "test_every_event_of_a_turn_passes_the_one_guard_before_the_queue",
            ),
        ),
    ),
    Rule(
        "promise-0.18",
        "A queue that opens again is said.",
        (
            broken(
                "it is used in silence",
                _QUEUE + "._open",
                'log.info("event_queue.reopened", message="Queue reopened", task_id=self._task_id)',
                "pass",
                _QUEUES + "test_a_queue_that_opens_again_is_said_and_used",
            ),
        ),
    ),
    Rule(
        "promise-0.21",
        "A tool call is pending until its result.",
        (
            broken(
                "it stays pending",
                _LEDGER + "::Ledger.observe",
                "self.pending_tool_calls.pop(message.tool_call_id, None)",
                "pass",
                "tests/unit/resilience/test_ledger.py::test_the_ledger_knows_the_open_calls_by_name",
            ),
        ),
    ),
    Rule(
        "promise-0.32",
        "A client that leaves a stream is one line; what the log refuses is dropped and counted.",
        (
            broken(
                "nothing is said",
                _QUEUE + "._note_readers",
                "self._close(Closed.UNREAD)",
                "_ = Closed.UNREAD",
                _CLOSING + "test_queue_closure_handling",
            ),
            broken(
                "a reader's leaving drops events",
                _QUEUE + "._append",
                "self._note_readers()",
                "self._note_readers()\nif self.closed:\n    return self._drop(self.closed)",
                _CLOSING + "test_queue_closure_handling",
                _QUEUES
                + "test_the_last_reader_that_leaves_closes_the_queue_which_says_so_once_and_drops_nothing",
            ),
            broken(
                "nothing is counted",
                _QUEUE + "._drop",
                "count(catalogue.DROPPED, reason=reason)",
                "_ = catalogue.DROPPED",
                _QUEUES + "test_thirty_five_events_after_closure_log_one_line",
            ),
        ),
    ),
    Rule(
        "promise-0.34",
        "The supervisor's container is named `caipe-supervisor`.",
        (
            broken(
                "it has another name",
                "docker-compose.yaml",
                "container_name: caipe-supervisor",
                "container_name: supervisor",
                "tests/compose/test_config.py::"
                "test_only_the_supervisor_is_reached_from_outside_and_only_from_this_machine",
            ),
        ),
    ),
    Rule(
        "promise-2.1",
        "A stream without anything in it is asked for again.",
        (
            broken(
                "what LangChain says of it is not known",
                _CLASSIFY,
                '"no generations found in stream"',
                '"no generations at all"',
                _RECOVERY + "test_an_empty_stream_is_asked_for_again",
            ),
        ),
    ),
    Rule(
        "promise-3.7",
        "What a sub-agent did for its answer stays in its own conversation.",
        (
            broken(
                "its conversation begins anew each time",
                "utils/a2a_common/execution/request_parser.py::thread_id",
                "(agent, caller.tenant, caller.name, context_id)",
                "(agent, caller.tenant, caller.name, context_id if agent != 'keys' else __import__('uuid').uuid4().hex)",
                _FLOW + "test_what_an_agent_did_for_an_answer_stays_in_its_own_conversation",
            ),
        ),
    ),
    Rule(
        "promise-4.3",
        "A sub-agent that may be told is told earlier results.",
        (
            broken(
                "it is told none",
                "multi_agents/platform_engineer/delegation_scope.py::DelegationScopes._whole_scope",
                "digest.results",
                "digest.results[:0]",
                "tests/e2e/delegation/test_scope_and_budget.py::"
                "test_a_sub_agents_tool_reads_the_request_the_results_and_the_history",
            ),
        ),
    ),
    Rule(
        "promise-4.7",
        "A turn is stored, analysed, delegated, answered with the history, and stored.",
        (
            broken(
                "a task is stored without what was asked",
                "utils/a2a_common/execution/executor.py::_submitted",
                "context.message is not None",
                "context.message is None",
                _FLOW + "test_a_turn_is_stored_analysed_delegated_answered_with_the_history_and_stored",
            ),
            broken(
                "the model is not shown what was said before",
                "utils/a2a_common/base_langgraph_agent.py::BaseLangGraphAgent._config",
                "request.thread_id",
                "request.task_id",
                _FLOW + "test_a_turn_is_stored_analysed_delegated_answered_with_the_history_and_stored",
            ),
        ),
    ),
    Rule(
        "promise-f4.8",
        "The model is offered the agents that fit, where there are many.",
        (
            broken(
                "it is offered all of them",
                _ENGINEER + ".model_middleware",
                "AgentSelector(self._settings.shown)",
                "AgentSelector(10**9)",
                _FLOW
                + "test_where_there_are_many_the_model_is_offered_the_agents_that_fit_and_those_that_were_used",
            ),
        ),
    ),
)
