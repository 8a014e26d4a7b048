"""The processes of a service that one command runs."""

from __future__ import annotations

from tests.broken_rules.rules import Rule, broken

_KEEP = "multi_agents/cli/service/keeper.py::_keep"
_TESTS = "tests/e2e/cli/test_kept_up.py::"
_STREAMS = "tests/e2e/cli/test_streams.py::"

KEPT_UP: tuple[Rule, ...] = (
    Rule(
        "kept-up",
        "A process of the service that ends by itself is started again, and one that ends again and again stays down.",
        (
            broken(
                "it stays down at once",
                _KEEP,
                "tries == len(pauses)",
                "True",
                _TESTS + "test_a_process_that_is_killed_is_started_again_and_the_service_knows_it",
                "tests/e2e/cli/test_up.py::test_a_process_that_dies_later_is_started_again_and_the_service_goes_on",
            ),
            broken(
                "it is started without end",
                _KEEP,
                "tries += 1",
                "tries += 0",
                _TESTS
                + "test_a_process_that_ends_again_and_again_stays_down_and_its_reason_and_log_are_told",
            ),
            broken(
                "a service without one of its processes ends as if it was told to",
                "multi_agents/cli/commands/up.py::until_stopped",
                "down.done()",
                "False",
                _TESTS + "test_a_service_without_a_chat_ends_with_the_reason_when_a_process_stays_down",
            ),
            broken(
                "a line that goes nowhere ends what writes it",
                "multi_agents/cli/streams.py::_Lossy.write",
                "suppress(OSError)",
                "suppress(ZeroDivisionError)",
                _STREAMS + "test_an_answer_is_printed_although_the_progress_can_go_nowhere",
                _STREAMS
                + "test_a_service_that_nohup_started_outlives_its_terminal_and_keeps_its_processes_up",
            ),
        ),
    ),
)
