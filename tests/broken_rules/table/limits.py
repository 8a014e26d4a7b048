"""What a client accepts, and what has a time limit."""

from __future__ import annotations

from tests.broken_rules.rules import Rule, broken

_LIMITS = "tests/e2e/wire/test_time_limits.py::"
_MODES = "tests/e2e/wire/test_output_modes.py::"
_VALUES = "tests/e2e/wire/test_values.py::"
_FILES = "tests/e2e/wire/test_files.py::"
_MUCH = "tests/e2e/delegation/test_too_much.py::"
_DRAIN = "tests/e2e/wire/test_drain.py::"
_CONNECTIONS = "tests/e2e/wire/test_connections.py::"
_BOUNDED = "utils/a2a_common/server/http/connections.py::"
_SERVER = "utils/a2a_common/server/app.py"
_ENGINE = "utils/a2a_common/engine/"

LIMITS: tuple[Rule, ...] = (
    Rule(
        "output-modes",
        "A client that accepts nothing of what the card offers is refused; others get only what they accept.",
        (
            broken(
                "nobody looks",
                "utils/a2a_common/protocol/media_modes.py::check_output_modes",
                "any(map(accepted.takes, offered))",
                "accepted",
                _MODES + "test_a_client_that_accepts_nothing_of_what_the_card_offers_is_refused",
            ),
            broken(
                "patterns and parameters are not known",
                "utils/a2a_common/protocol/media_modes.py::_matches",
                "wanted in {mode, f'{kind}/*', '*/*', '*', kind}",
                "wanted == mode and bool(kind)",
                _MODES + "test_a_client_that_accepts_one_of_what_the_card_offers_is_answered",
            ),
            broken(
                "an answer is always Markdown",
                "utils/a2a_common/execution/publisher.py::Publisher.__init__",
                "ResponseStream(self._send_artifact, accepted.text if accepted.takes_text else None)",
                "ResponseStream(self._send_artifact)",
                _MODES + "test_every_part_of_an_answer_is_of_a_type_that_the_client_accepts",
            ),
            broken(
                "the plan comes to everybody",
                "utils/a2a_common/execution/publisher.py::Publisher.__init__",
                "plan_artifact and self._takes_data",
                "plan_artifact",
                _MODES + "test_every_part_of_an_answer_is_of_a_type_that_the_client_accepts",
            ),
            broken(
                "the form comes to everybody",
                "utils/a2a_common/execution/agent_messages.py::question_message",
                "asked.form is not None and form",
                "asked.form is not None",
                _MODES + "test_a_question_to_a_client_without_json_comes_in_words_alone",
            ),
            broken(
                "what is not shown is not known either",
                "utils/a2a_common/execution/agent_messages.py::question_message",
                "keep_form(message, in_order(asked.form))",
                "pass",
                "tests/e2e/agents/test_plain_clients.py::"
                "test_data_that_does_not_fill_a_form_is_refused_where_the_asker_takes_text_alone",
            ),
        ),
    ),
    Rule(
        "connections",
        "Connections and slow bodies are bounded, and what is answered slowly is not cut.",
        (
            broken(
                "there is no limit",
                _BOUNDED + "BoundedConnection._over",
                "0 < self.bounds.connections < len(self.connections)",
                "False",
                _CONNECTIONS + "test_past_the_limit_there_is_503_and_the_probes_are_answered",
                _CONNECTIONS + "test_an_agent_has_the_limits_of_its_settings",
            ),
            broken(
                "one address may have all",
                _BOUNDED + "BoundedConnection._over",
                "own > self.bounds.per_address",
                "False",
                _CONNECTIONS + "test_one_address_has_a_limit_of_its_own_where_that_is_set",
            ),
            broken(
                "far past it connections are held",
                _BOUNDED + "BoundedConnection.connection_made",
                "not self._make_room()",
                "False",
                _CONNECTIONS + "test_far_past_the_limit_a_connection_is_closed_unread_where_none_is_idle",
            ),
            broken(
                "the probes are refused as well",
                _BOUNDED + "_Refusal.__call__",
                "local_path(scope) in PROBES",
                "False",
                _CONNECTIONS + "test_past_the_limit_there_is_503_and_the_probes_are_answered",
            ),
            broken(
                "whoever reads nothing is held",
                "utils/a2a_common/server/http/stalled_readers.py::StalledReaders._look",
                "stands >= _LOOKS",
                "False",
                "tests/e2e/wire/test_stalled_readers.py::test_a_client_that_reads_nothing_of_an_answer_is_cut_off",
            ),
            broken(
                "whoever reads nothing of a stream over gRPC is waited for without end",
                "utils/a2a_common/server/grpc/stalled.py::StalledStreams._write",
                "asyncio.timeout(self._seconds + size / LEAST_PER_SECOND)",
                "asyncio.timeout(None)",
                "tests/e2e/wire/test_stalled_grpc.py::"
                "test_a_stream_of_which_its_client_takes_nothing_is_ended_and_the_client_is_told",
            ),
            broken(
                "whoever reads slowly is cut off",
                "utils/a2a_common/server/http/stalled_readers.py::Unsent.is_stalled",
                "self.queued == before.queued",
                "True",
                "tests/e2e/wire/test_stalled_readers.py::"
                "test_whoever_reads_slowly_and_a_stream_that_says_nothing_are_not_cut_off",
            ),
            broken(
                "a body may drip behind an answer",
                _BOUNDED + "BoundedConnection.data_received",
                "self.bounds.body_seconds + GRACE_SECONDS",
                "1000",
                _CONNECTIONS + "test_a_body_that_drips_is_cut_off_also_where_the_answer_did_not_wait_for_it",
            ),
            broken(
                "the time of a body runs on when it is there",
                _BOUNDED + "BoundedConnection.data_received",
                "self.conn.their_state is not h11.SEND_BODY",
                "False",
                _CONNECTIONS + "test_a_stream_and_a_slow_answer_outlast_every_limit",
            ),
            broken(
                "calls over gRPC are not counted",
                "utils/a2a_common/server/grpc/server.py::start_grpc",
                "max_calls or None",
                "None",
                _CONNECTIONS + "test_calls_over_grpc_are_bounded",
            ),
        ),
    ),
    Rule(
        "body-time",
        "A body that does not arrive is answered with 408.",
        (
            broken(
                "it is waited for without end",
                "utils/a2a_common/server/http/request_guard.py::RequestGuard._read",
                "self._seconds",
                "self._seconds * 1000",
                _LIMITS + "test_a_body_that_does_not_arrive_is_answered_with_408",
            ),
            broken(
                "the connection is cut off without a word",
                "utils/a2a_common/server/http/request_guard.py::RequestGuard._read",
                'Complaint(408, "The request\'s body did not arrive.", headers={"Connection": "close"})',
                "None",
                _LIMITS + "test_a_body_that_does_not_arrive_is_answered_with_408",
            ),
        ),
    ),
    Rule(
        "waiting-tasks",
        "A task that waits for its user keeps nothing running, and its reply is answered all the same.",
        (
            broken(
                "a message that was judged meanwhile cancels the reply's work",
                "utils/a2a_common/handler/pending_input.py::PendingInputRouter._leave",
                "await self._engine.cancel(task.id, owner, call, asked=task)",
                "await self._engine.cancel(task.id, owner, call)",
                "tests/unit/handler/test_pending_input.py::"
                "test_a_task_that_is_answered_while_a_message_is_judged_goes_on_and_the_message_is_a_new_request",
            ),
            broken(
                "something of its turn is left running",
                "utils/a2a_common/engine/turn_runner.py::_first",
                "waiting.cancel()",
                "waiting.done()",
                "tests/e2e/wire/test_life_cycle.py::test_a_task_that_waits_costs_nothing_and_its_reply_is_taken",
            ),
        ),
    ),
    Rule(
        "grace",
        "Turns that run when a process is ended get its grace, and go on after the next start.",
        (
            broken(
                "they are cut off at once",
                "utils/a2a_common/engine/local.py::LocalEngine.drain",
                "await asyncio.wait(running, timeout=grace)",
                "await asyncio.wait(running, timeout=0 * grace)",
                _DRAIN + "test_a_running_turn_finishes_within_the_grace",
            ),
            broken(
                "new ones are taken",
                "utils/a2a_common/engine/local.py::LocalEngine.submit",
                "raise Draining(RESTART_SECONDS)",
                "_ = Draining(RESTART_SECONDS)",
                "tests/unit/engine/test_drain.py::"
                "test_no_turn_is_taken_and_a_running_one_finishes_within_the_grace",
            ),
            broken(
                "the agent says that it is ready",
                _SERVER + "::_readiness",
                "drain.begun",
                "drain.begun and not drain",
                _DRAIN + "test_between_the_signal_and_the_end_an_agent_is_alive_but_not_ready",
            ),
            broken(
                "a stream that is cut does not say that it goes on",
                "utils/a2a_common/engine/unfinished_turns.py::suspend",
                "writer.suspend(last)",
                "writer.suspend(last and None)",
                _DRAIN + "test_a_stream_that_is_cut_says_where_it_goes_on_and_does_so_after_the_next_start",
            ),
        ),
    ),
    Rule(
        "line",
        "Turns at once are bounded, and the line behind them; past it a client is told when to come again.",
        (
            broken(
                "the line has no end",
                "utils/a2a_common/engine/load.py::Load.has_room",
                "return free > 0",
                "return True",
                "tests/unit/engine/test_submit.py::"
                "test_no_more_turns_run_at_once_than_may_and_the_line_is_bounded",
            ),
            broken(
                "all run at once",
                "utils/a2a_common/engine/shares.py::FairShares.open_to",
                "self.free > 0",
                "self.free > -99",
                "tests/unit/engine/test_local_queue.py::test_no_more_turns_run_than_may_and_the_oldest_begins_first",
            ),
            broken(
                "a conversation has two turns at once",
                "utils/a2a_common/engine/load.py::Load._may_begin",
                "not each.running",
                "each",
                "tests/unit/engine/test_submit.py::"
                "test_turns_of_a_conversation_run_one_at_a_time_in_their_order",
            ),
            broken(
                "nobody is told when",
                "utils/a2a_common/server/http/retry_after.py::_refused",
                "headers['Retry-After'] = str(error.retry_after)",
                "_ = error",
                "tests/e2e/wire/test_refusals.py::"
                "test_past_the_line_every_http_binding_answers_503_and_when_to_come_again",
            ),
        ),
    ),
    Rule(
        "turn-stages",
        "A turn that is canceled or put off before its run begins never begins, and one that has left writes nothing.",
        (
            broken(
                "what was halted may begin",
                _ENGINE + "stage.py",
                "{Stage.STORED: Stage.RUNNING}",
                "{Stage.STORED: Stage.RUNNING, Stage.HALTED: Stage.RUNNING}",
                "tests/unit/engine/test_stage.py::test_a_turn_that_is_stopped_before_it_runs_never_begins",
            ),
            broken(
                "a turn may end twice",
                _ENGINE + "stage.py",
                "{Stage.ENDED: Stage.CLOSED, Stage.CLOSED: Stage.CLOSED}",
                "{Stage.ENDED: Stage.NEW, Stage.CLOSED: Stage.CLOSED}",
                "tests/unit/engine/test_stage.py::"
                "test_nothing_leads_back_and_whatever_is_not_listed_is_refused",
            ),
            broken(
                "a replica does not look whether what it opened was put off meanwhile",
                _ENGINE + "distributed.py::DistributedEngine._run_opened",
                "job.stage is not Stage.STORED",
                "job.turn is None",
                "tests/unit/engine/test_canceled_twice.py::"
                "test_a_turn_that_is_put_off_as_it_was_opened_does_not_begin",
            ),
            broken(
                "a cancel goes on with the writer of a refused message",
                _ENGINE + "turn_engine.py::TurnEngine._stop",
                "if job.over:\n    return False",
                "",
                "tests/unit/engine/test_refused_messages.py::"
                "test_a_task_whose_answer_is_refused_while_it_is_canceled_is_canceled_once",
            ),
        ),
    ),
    Rule(
        "take-over",
        "A turn whose process died goes on at the next start, twice at most.",
        (
            broken(
                "it is not stored",
                "utils/a2a_common/engine/turn_engine.py::TurnEngine._store",
                "await self._runs.put(row)",
                "_ = row",
                "tests/unit/engine/test_recovery.py::"
                "test_a_turn_whose_process_died_goes_on_and_the_dead_can_write_nothing_any_more",
            ),
            broken(
                "it is taken over without end",
                "utils/a2a_common/engine/recovery.py::Recovery._goes_on",
                "row.attempts < MAX_ATTEMPTS",
                "row.attempts >= 0",
                "tests/unit/engine/test_recovery.py::"
                "test_a_turn_that_was_taken_over_twice_fails_as_interrupted",
            ),
            broken(
                "it runs again though it was over",
                "utils/a2a_common/engine/job.py::is_over",
                "head.status.state in TERMINAL",
                "head.status.state in TERMINAL and (not turn)",
                "tests/unit/engine/test_recovery.py::"
                "test_a_turn_that_was_over_is_not_run_again_though_its_row_stayed",
            ),
            broken(
                "a task without a stored turn works for ever",
                "utils/a2a_common/engine/recovery.py::Recovery.turns",
                "task_id not in known",
                "task_id in known",
                "tests/unit/engine/test_recovery.py::"
                "test_a_task_that_works_without_a_stored_turn_fails_and_its_children_are_let_go",
            ),
        ),
    ),
    Rule(
        "values",
        "What no list of tasks can carry is refused over every binding, and what is stored already breaks no list.",
        (
            broken(
                "numbers are not looked at",
                "utils/a2a_common/protocol/json_values.py::_checked",
                "not math.isfinite(value.number_value)",
                "math.isnan(1.0)",
                _VALUES + "test_a_number_that_json_cannot_say_is_refused_and_every_list_of_tasks_still_works",
            ),
            broken(
                "nesting is not looked at",
                "utils/a2a_common/protocol/json_values.py::_checked",
                "depth > MAX_NESTING",
                "depth > 64",
                _VALUES + "test_values_nest_as_deep_as_storage_reads_back_and_deeper_ones_are_refused",
            ),
            broken(
                "parts are not counted",
                "utils/a2a_common/handler/message_rules.py::check_message",
                "len(message.parts) > MAX_PARTS",
                "len(message.parts) > MAX_VALUES",
                _VALUES + "test_a_message_of_a_thousand_parts_is_taken_and_one_of_more_refused",
            ),
            broken(
                "old messages are converted first",
                "utils/a2a_common/server/grpc/server.py::start_grpc",
                "LegacyGrpc(handler, builder(LEGACY))",
                "LegacyGrpc.__mro__[2](handler, builder(LEGACY))",
                _VALUES + "test_a_message_of_a_hundred_thousand_parts_is_refused_at_little_cost",
            ),
            broken(
                "agents may say anything",
                "utils/a2a_common/tasks/transitions.py::apply",
                "complaint_about(event)",
                "None if event is not None else complaint_about(event)",
                _VALUES + "test_an_agent_that_says_what_json_cannot_fails_its_task_and_no_list",
            ),
            broken(
                "stored tasks are not looked at",
                "utils/a2a_common/handler/task_reader.py::TaskReader.with_stand_ins",
                "complaint_about(task)",
                "None",
                _VALUES + "test_tasks_that_cannot_be_shown_break_neither_the_start_nor_a_page",
            ),
        ),
    ),
    Rule(
        "files",
        "A part that the agent does not read is refused, and never left out in silence.",
        (
            broken(
                "they are taken and left out",
                "utils/a2a_common/handler/admission.py::Admission.admit",
                "check_content(message, input_modes_of(self._card), reads_files=self._takes_files)",
                "pass",
                _FILES + "test_a_part_that_the_agent_does_not_read_is_refused_and_named",
                _FILES + "test_a_file_is_refused_over_grpc",
            ),
        ),
    ),
    Rule(
        "peers",
        "What another agent sends is bounded, its files are named, and its changed card ends nobody's delegation.",
        (
            broken(
                "an event may have any size",
                "utils/a2a_common/client/transport/limits.py::_Bounded._checked",
                "len(held) - begin > LARGEST_EVENT",
                "len(held) - begin > 2 * self._limits.most",
                _MUCH + "test_an_agent_that_sends_too_much_is_stopped_and_the_supervisor_goes_on",
            ),
            broken(
                "all progress is passed up",
                "utils/a2a_common/client/delegation/remote_agent.py::RemoteAgent.run",
                "ProgressGate(noted)",
                "noted",
                _MUCH + "test_thousands_of_signs_of_progress_become_as_many_as_somebody_can_read",
            ),
            broken(
                "a changed card closes the client that is in use",
                "utils/a2a_common/client/delegation/remote_agents.py::ClientPool._close_unused",
                "pooled.replaced and (not pooled.users)",
                "pooled.replaced",
                "tests/e2e/delegation/test_changed_card.py::test_a_delegation_that_runs_while_the_agents_card_changes_is_completed",
            ),
            broken(
                "files are left out",
                "utils/a2a_common/client/delegation/part_text.py::piece_of",
                "f'{described(part)} {where(url)}'",
                "''",
                "tests/e2e/delegation/test_files.py::test_a_file_that_is_all_that_an_agent_returned_is_named_to_the_user",
            ),
        ),
    ),
)
