"""What each kind of event looks like on the wire."""

from __future__ import annotations

from tests.broken_rules.rules import Rule, broken

_PUBLISHER = "utils/a2a_common/execution/publisher.py"
_RESPONSE = "utils/a2a_common/execution/response_stream.py"
_SAID = "tests/e2e/wire/test_events.py::"
_TURNS = "tests/e2e/agents/test_turns.py::"
_ACTIVITY = _SAID + "test_activity_travels_whole_in_the_metadata_of_a_working_status"
_PLAN = (
    _SAID
    + "test_a_client_that_requests_the_extension_gets_the_plan_as_one_artifact_that_each_change_replaces"
)

EVENTS: tuple[Rule, ...] = (
    Rule(
        "event-text",
        "Text is the artifact `response`, appended: the first piece at once, later ones coalesced (80 ms or 512 characters).",
        (
            broken(
                "the first piece waits for company",
                _RESPONSE + "::ResponseStream.write",
                "not self._opened or len(self._buffer) >= FLUSH_CHARACTERS",
                "len(self._buffer) >= FLUSH_CHARACTERS",
                _SAID + "test_the_first_words_are_sent_at_once_and_later_ones_together",
            ),
            broken(
                "every piece is a chunk of its own",
                _RESPONSE + "::ResponseStream.write",
                "not self._opened or len(self._buffer) >= FLUSH_CHARACTERS",
                "self._buffer",
                _SAID + "test_the_first_words_are_sent_at_once_and_later_ones_together",
                _TURNS + "test_chunks_begin_without_append_go_on_with_it_and_the_last_is_marked",
            ),
            broken(
                "what waits is never sent on its own",
                _RESPONSE + "::ResponseStream._flush_later",
                "self._timer = None\nawait self.flush()",
                "self._timer = None",
                _SAID + "test_words_do_not_wait_for_company_that_does_not_come",
            ),
            broken(
                "a long piece waits too",
                _RESPONSE + "::ResponseStream.write",
                "not self._opened or len(self._buffer) >= FLUSH_CHARACTERS",
                "not self._opened",
                _SAID + "test_a_long_piece_does_not_wait",
            ),
            broken(
                "each chunk replaces the one before",
                _RESPONSE + "::ResponseStream.flush",
                "self._opened",
                "False",
                _TURNS + "test_chunks_begin_without_append_go_on_with_it_and_the_last_is_marked",
            ),
        ),
    ),
    Rule(
        "event-tool",
        "A tool call is activity in the metadata of a working status: id, tool, arguments; then status, time, truncated.",
        (
            broken(
                "activity stands under a key that nobody knows",
                _PUBLISHER + "::Publisher.publish",
                "ACTIVITY_EXTENSION",
                "'activity'",
                _ACTIVITY,
                _TURNS + "test_tool_calls_are_activity_and_never_part_of_the_answer",
            ),
            broken(
                "the arguments are left out",
                "utils/a2a_common/graph/tools/boundary.py::ToolBoundary.awrap_tool_call",
                "ToolStarted(call_id, name, digest(request.tool_call['args']))",
                "ToolStarted(call_id, name)",
                "tests/e2e/agents/test_long_results.py::test_a_result_that_the_model_saw_in_part_is_marked_as_truncated",
            ),
            broken(
                "a result that was cut is not marked",
                "utils/a2a_common/graph/tools/boundary.py::ToolBoundary._ended",
                "ToolFinished(call_id, name, seen.status, seconds, truncated=cut, result=shown)",
                "ToolFinished(call_id, name, seen.status, seconds, result=shown)",
                "tests/e2e/agents/test_long_results.py::test_a_result_that_the_model_saw_in_part_is_marked_as_truncated",
            ),
            broken(
                "the time is left out",
                "utils/a2a_common/graph/tools/boundary.py::ToolBoundary._ended",
                "time.monotonic() - started",
                "0.0",
                "tests/e2e/agents/test_long_results.py::test_a_result_that_the_model_saw_in_part_is_marked_as_truncated",
            ),
        ),
    ),
    Rule(
        "event-delegation",
        "A delegation is activity that is tagged with the agent that it comes from.",
        (
            broken(
                "progress is tagged with the one who delegates",
                "utils/a2a_common/protocol/extensions.py::activity_payload",
                "{'kind': _KIND_OF[type(event)], 'agent': agent, **fields}",
                "{'kind': _KIND_OF[type(event)], **fields, 'agent': agent}",
                _ACTIVITY,
                "tests/e2e/agents/test_delegation.py::test_the_sub_agents_own_tools_are_seen_as_progress_of_the_delegation",
            ),
            broken(
                "what the sub-agent does is not passed up",
                "utils/a2a_common/client/delegation/progress.py::progress_of",
                "activity_payload(event.activity, event.agent) if isinstance(event, ActivityReported) else None",
                "None",
                "tests/e2e/agents/test_delegation.py::test_the_sub_agents_own_tools_are_seen_as_progress_of_the_delegation",
            ),
            broken(
                "nobody is told that it began",
                "utils/a2a_common/client/delegation/remote_agent.py::RemoteAgent.run",
                "report(DelegationStarted(call.call_id, self._name, call.text))",
                "_ = DelegationStarted(call.call_id, self._name, call.text)",
                "tests/e2e/agents/test_delegation.py::test_a_delegation_is_told_from_its_start_to_its_end",
            ),
        ),
    ),
    Rule(
        "event-plan",
        "The plan is a payload in metadata, and for clients that request it the artifact `plan` with one data part, replaced on each change.",
        (
            broken(
                "each plan is another artifact",
                _PUBLISHER + "::Publisher._show_plan",
                "Artifact(artifact_id=PLAN_ARTIFACT, name=PLAN_ARTIFACT, parts=[part])",
                "Artifact(artifact_id=PLAN_ARTIFACT + str(id(part)), name=PLAN_ARTIFACT, parts=[part])",
                _PLAN,
            ),
            broken(
                "the plan is part of the answer's artifact",
                _PUBLISHER + "::Publisher._show_plan",
                "Artifact(artifact_id=PLAN_ARTIFACT, name=PLAN_ARTIFACT, parts=[part])",
                "Artifact(artifact_id='response', name=PLAN_ARTIFACT, parts=[part])",
                _PLAN,
            ),
            broken(
                "the plan is sent in two parts",
                _PUBLISHER + "::Publisher._show_plan",
                "Artifact(artifact_id=PLAN_ARTIFACT, name=PLAN_ARTIFACT, parts=[part])",
                "Artifact(artifact_id=PLAN_ARTIFACT, name=PLAN_ARTIFACT, parts=[part, part])",
                _PLAN,
            ),
            broken(
                "changes of the plan are not told",
                "multi_agents/platform_engineer/agent.py::PlatformEngineer.stream",
                "updated is not None",
                "isinstance(event, PlanUpdated) and updated is not None",
                "tests/e2e/agents/test_delegation.py::test_independent_sub_tasks_run_in_parallel_and_the_answer_uses_both",
            ),
        ),
    ),
    Rule(
        "event-compacted",
        "A compaction is activity: strategy, tokens before and after, limit, cut.",
        (
            broken(
                "a compaction is not published",
                _PUBLISHER + "::Publisher.publish",
                "metadata = {ACTIVITY_EXTENSION: activity_payload(event, self._agent)}",
                "metadata = {ACTIVITY_EXTENSION: activity_payload(event, self._agent)}\nif isinstance(event, ContextCompacted):\n    return",
                _ACTIVITY,
                "tests/e2e/context/test_compaction_told.py::test_a_client_is_told_that_its_conversation_was_made_smaller",
            ),
            broken(
                "the graph does not tell of compactions",
                "utils/context/middleware.py::ContextMiddleware._prepare",
                "write(event)",
                "_ = (write, event)",
                "tests/e2e/context/test_compaction_told.py::test_a_client_is_told_of_it_in_the_middle_of_a_turn",
            ),
        ),
    ),
    Rule(
        "event-usage",
        "Usage stands in the terminal status' metadata, under a key of its own.",
        (
            broken(
                "usage is put where the activity stands",
                _PUBLISHER + "::Publisher.publish",
                "USAGE_EXTENSION",
                "ACTIVITY_EXTENSION",
                _SAID + "test_usage_comes_with_the_last_status_alone_and_under_a_key_of_its_own",
                _TURNS + "test_usage_is_in_the_terminal_status",
            ),
            broken(
                "usage comes with every status",
                _PUBLISHER + "::Publisher.publish",
                "{ACTIVITY_EXTENSION: activity_payload(event, self._agent)}",
                "{**self._facts, ACTIVITY_EXTENSION: activity_payload(event, self._agent)}",
                _SAID + "test_usage_comes_with_the_last_status_alone_and_under_a_key_of_its_own",
            ),
            broken(
                "the last status has no usage",
                _PUBLISHER + "::Publisher._end",
                "{**self._trace(), **self._facts, **(metadata or {})} or None",
                "metadata",
                _TURNS + "test_usage_is_in_the_terminal_status",
            ),
        ),
    ),
    Rule(
        "event-question",
        "A question is a status input-required with the question and its form, and the stream ends.",
        (
            broken(
                "a question completes the task",
                _PUBLISHER + "::Publisher.publish",
                "self._end(waits, question_message(event, self._agent, form=self._takes_data))",
                "self._end(TaskState.TASK_STATE_COMPLETED, question_message(event, self._agent, form=True))",
                _SAID + "test_a_question_is_the_message_of_an_input_required_status_that_ends_the_stream",
            ),
            broken(
                "a request to sign in is shown as a question",
                _PUBLISHER + "::Publisher.publish",
                "TaskState.TASK_STATE_AUTH_REQUIRED if auth else TaskState.TASK_STATE_INPUT_REQUIRED",
                "TaskState.TASK_STATE_INPUT_REQUIRED",
                "tests/e2e/delegation/test_authorisation.py::"
                "test_a_login_that_a_sub_agent_asks_for_reaches_the_user_and_the_reply_the_same_remote_task",
            ),
            broken(
                "the form is left out",
                "utils/a2a_common/execution/agent_messages.py::question_message",
                "asked.form is not None and form",
                "asked.form is None and form",
                _SAID + "test_a_question_is_the_message_of_an_input_required_status_that_ends_the_stream",
                "tests/e2e/delegation/test_relay.py::test_a_form_reaches_the_user_whole_and_the_answer_reaches_the_same_remote_task",
            ),
        ),
    ),
    Rule(
        "event-end",
        "`Completed` and `Failed` are the one terminal status; a failure has code, sentence and trace id.",
        (
            broken(
                "a failure has no sentence",
                _PUBLISHER + "::Publisher._fail",
                "agent_message(event.message)",
                "None",
                _SAID + "test_a_failure_is_the_one_terminal_status_with_code_sentence_and_trace_id",
            ),
            broken(
                "a failure has no code",
                _PUBLISHER + "::Publisher._fail",
                "self._end(TaskState.TASK_STATE_FAILED, agent_message(event.message), error)",
                "self._end(TaskState.TASK_STATE_FAILED, agent_message(event.message))",
                _SAID + "test_a_failure_is_the_one_terminal_status_with_code_sentence_and_trace_id",
                "tests/e2e/agents/test_main_job.py::test_a_github_that_is_down_fails_the_task_with_a_code_and_a_sentence",
            ),
            broken(
                "a turn that is done stays working",
                _PUBLISHER + "::Publisher._complete",
                "self._end(TaskState.TASK_STATE_COMPLETED, metadata=short)",
                "self._response.flush(last=short is None)",
                _TURNS + "test_the_first_event_is_the_task_and_the_last_the_one_terminal_status",
            ),
        ),
    ),
    Rule(
        "event-extension",
        "Activity is an extension that the card declares and does not require.",
        (
            broken(
                "the card is silent about activity",
                "utils/a2a_common/server/card.py::_capabilities",
                "{**_EXTENSIONS, **options.extensions}.items()",
                "list(_EXTENSIONS.items())[1:]",
                _SAID + "test_our_extensions_are_declared_on_the_card_and_none_is_required",
            ),
            broken(
                "generic clients are shut out",
                "utils/a2a_common/server/card.py::_capabilities",
                "AgentExtension(uri=uri, description=text, required=uri in options.required_extensions)",
                "AgentExtension(uri=uri, description=text, required=True)",
                _SAID + "test_our_extensions_are_declared_on_the_card_and_none_is_required",
                _TURNS + "test_the_text_of_an_answer_crosses_the_wire_once",
            ),
        ),
    ),
    Rule(
        "event-no-messages",
        "Activity is never a status message: the history of a task does not grow with it.",
        (
            broken(
                "activity carries a message for people",
                _PUBLISHER + "::Publisher.publish",
                "self._status(TaskState.TASK_STATE_WORKING, metadata=metadata)",
                "self._status(TaskState.TASK_STATE_WORKING, metadata=metadata, message=agent_message(str(event)))",
                _SAID + "test_activity_is_never_a_message_of_the_tasks_history",
                _TURNS + "test_activity_never_grows_the_tasks_history",
            ),
        ),
    ),
)
