"""What a client accepts, and what has a time limit."""

from __future__ import annotations

from tests.broken_rules.rules import Break, Edit, Rule, broken

_LIMITS = "tests/e2e/wire/test_time_limits.py::"
_MODES = "tests/e2e/wire/test_output_modes.py::"
_VALUES = "tests/e2e/wire/test_values.py::"
_FILES = "tests/e2e/wire/test_files.py::"
_MUCH = "tests/e2e/delegation/test_too_much.py::"
_SERVER = "utils/a2a_common/server/app.py"

LIMITS: tuple[Rule, ...] = (
    Rule(
        "output-modes",
        "A client that accepts nothing of what the card offers is refused; others get only what they accept.",
        (
            broken(
                "nobody looks",
                "utils/a2a_common/protocol/output_modes.py::check_output_modes",
                "any(map(accepted.takes, offered))",
                "accepted",
                _MODES + "test_a_client_that_accepts_nothing_of_what_the_card_offers_is_refused",
            ),
            broken(
                "patterns and parameters are not known",
                "utils/a2a_common/protocol/output_modes.py::_matches",
                "wanted in {mode, f'{kind}/*', '*/*', '*', kind}",
                "wanted == mode and bool(kind)",
                _MODES + "test_a_client_that_accepts_one_of_what_the_card_offers_is_answered",
            ),
            broken(
                "an answer is always Markdown",
                "utils/a2a_common/execution/publisher.py::Publisher.__init__",
                "ResponseStream(sink, accepted.text if accepted.takes_text else None)",
                "ResponseStream(sink)",
                _MODES + "test_every_part_of_an_answer_is_of_a_type_that_the_client_accepts",
            ),
            broken(
                "the plan comes to everybody",
                "utils/a2a_common/execution/publisher.py::Publisher._plan",
                "from a2a.types.a2a_pb2 import Artifact\nif not self._takes_data:\n    return",
                "from a2a.types.a2a_pb2 import Artifact",
                _MODES + "test_every_part_of_an_answer_is_of_a_type_that_the_client_accepts",
            ),
            broken(
                "the form comes to everybody",
                "utils/a2a_common/execution/publisher.py::Publisher._ask",
                "event.form is not None and self._takes_data",
                "event.form is not None",
                _MODES + "test_a_question_to_a_client_without_json_comes_in_words_alone",
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
                "BODY_SECONDS",
                "BODY_SECONDS * 1000",
                _LIMITS + "test_a_body_that_does_not_arrive_is_answered_with_408",
            ),
            broken(
                "the connection is cut off without a word",
                "utils/a2a_common/server/http/request_guard.py::RequestGuard._read",
                'Complaint(408, "The request\'s body did not arrive.")',
                "None",
                _LIMITS + "test_a_body_that_does_not_arrive_is_answered_with_408",
            ),
        ),
    ),
    Rule(
        "waiting-tasks",
        "A task that waits for its user keeps nothing running for long, and its reply is answered all the same.",
        (
            broken(
                "it runs until the reply",
                _SERVER + "::build_app",
                "INTERRUPTED_TASK_SECONDS",
                "None",
                _LIMITS
                + "test_a_task_that_waits_for_its_user_keeps_nothing_running_and_is_answered_all_the_same",
            ),
        ),
    ),
    Rule(
        "grace",
        "Streams that are open when a process is ended get its grace, and no more.",
        (
            Break(
                "they are cut off at once",
                (
                    Edit(_SERVER + "::_routes", "settings.shutdown_grace_seconds", "0.0"),
                    Edit(
                        "utils/a2a_common/server/agent_process.py::run_agent",
                        "int(listening.shutdown_grace_seconds) + 1",
                        "1",
                    ),
                ),
                (_LIMITS + "test_a_stream_that_is_open_when_its_process_is_ended_gets_its_grace",),
            ),
            Break(
                "they hold the process",
                (
                    Edit(_SERVER + "::_routes", "settings.shutdown_grace_seconds", "600.0"),
                    Edit(
                        "utils/a2a_common/server/agent_process.py::run_agent",
                        "int(listening.shutdown_grace_seconds) + 1",
                        "600",
                    ),
                ),
                (_LIMITS + "test_a_process_does_not_outlive_its_grace",),
            ),
        ),
    ),
    Rule(
        "values",
        "What no list of tasks can carry is refused over every binding, and what is stored already breaks no list.",
        (
            broken(
                "numbers are not looked at",
                "utils/a2a_common/protocol/json_values.py::complaint_about",
                "not math.isfinite(item.number_value)",
                "math.isnan(1.0)",
                _VALUES + "test_a_number_that_json_cannot_say_is_refused_and_every_list_of_tasks_still_works",
            ),
            broken(
                "nesting is not looked at",
                "utils/a2a_common/protocol/json_values.py::complaint_about",
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
                "utils/a2a_common/server/grpc_server.py::start_grpc",
                "LegacyGrpc(handler, builder)",
                "LegacyGrpc.__mro__[1](handler, builder)",
                _VALUES + "test_a_message_of_a_hundred_thousand_parts_is_refused_at_little_cost",
            ),
            broken(
                "agents may say anything",
                "utils/a2a_common/execution/guarded_queue.py::GuardedQueue.enqueue_event",
                "complaint_about(event)",
                "None if event is not None else complaint_about(event)",
                _VALUES + "test_an_agent_that_says_what_json_cannot_fails_its_task_and_no_list",
            ),
            broken(
                "stored tasks are not looked at",
                "utils/a2a_common/handler/request_handler.py::PlatformRequestHandler.on_list_tasks",
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
                "utils/a2a_common/client/peer_limits.py::_Bounded._ready",
                "len(held) - begin > LARGEST_EVENT",
                "len(held) - begin > 2 * self._limits.most",
                _MUCH + "test_an_agent_that_sends_too_much_is_stopped_and_the_supervisor_goes_on",
            ),
            broken(
                "all progress is passed up",
                "utils/a2a_common/client/remote_agent.py::RemoteAgent.run",
                "ProgressGate(noted)",
                "noted",
                _MUCH + "test_thousands_of_signs_of_progress_become_as_many_as_somebody_can_read",
            ),
            broken(
                "a changed card closes the client that is in use",
                "utils/a2a_common/client/client_pool.py::ClientPool._close_unused",
                "pooled.replaced and (not pooled.users)",
                "pooled.replaced",
                "tests/e2e/delegation/test_changed_card.py::test_a_delegation_that_runs_while_the_agents_card_changes_is_completed",
            ),
            broken(
                "files are left out",
                "utils/a2a_common/client/part_text.py::said",
                "f'{described(part)} {where(url)}'",
                "''",
                "tests/e2e/delegation/test_files.py::test_a_file_that_is_all_that_an_agent_returned_is_named_to_the_user",
            ),
        ),
    ),
)
