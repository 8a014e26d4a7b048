"""Failures of earlier systems that must stay impossible, 10 to 13, 17 to 19 and 22."""

from __future__ import annotations

from tests.broken_rules.rules import Break, Edit, Rule, broken

_CONTEXT = "utils/context/middleware.py"
_REPAIR = "utils/messages/repair.py"
_WITH_MODEL = "tests/e2e/context/test_middleware.py::"
_QUEUE = "utils/a2a_common/engine/event_queue.py::LogQueue"
_QUEUES = "tests/unit/engine/test_event_queue.py::"
_ORPHAN = _WITH_MODEL + "test_an_interrupted_call_is_repaired_beside_its_answered_siblings"

LATER_FAILURES: tuple[Rule, ...] = (
    Rule(
        "fail-10",
        "Repair gives an orphan call its result directly after it, and leaves its answered siblings alone.",
        (
            broken(
                "answered siblings are orphaned too",
                _REPAIR + "::_paired",
                "results.get((index, place))",
                "results.get((index, place)) if len(ids) < 2 else None",
                _ORPHAN,
            ),
        ),
    ),
    Rule(
        "fail-11",
        "A summary stands before the recent messages and takes the place of the old ones.",
        (
            broken(
                "the summary is lost",
                "utils/context/block.py::system_block",
                "_summary(compaction)",
                "_summary(compaction)[:0]",
                _WITH_MODEL
                + "test_a_long_conversation_is_never_refused_and_its_summary_is_not_part_of_an_answer",
            ),
            broken(
                "what was summarised is sent as well",
                "utils/context/compaction.py::visible_messages",
                "compaction.through",
                "compaction.count < 0",
                _WITH_MODEL + "test_recall_searches_what_is_no_longer_shown",
            ),
        ),
    ),
    Rule(
        "fail-12",
        "The preflight runs before every model request, not once per turn.",
        (
            broken(
                "only the first request of a turn is prepared",
                _CONTEXT + "::ContextMiddleware.awrap_model_call",
                "tools, key = known_tools(request), key_of(request.model)",
                "if request.messages[-1].type != 'human':\n"
                "    passed: Any = await handler(request)\n"
                "    return passed\n"
                "tools, key = known_tools(request), key_of(request.model)",
                _WITH_MODEL + "test_the_preflight_runs_before_every_request_also_deep_inside_one_turn",
            ),
        ),
    ),
    Rule(
        "fail-13",
        "Truncation keeps the end of a log.",
        (
            broken(
                "only the head is kept",
                "utils/context/excerpt.py",
                "HEAD_SHARE = 0.4",
                "HEAD_SHARE = 1.0",
                _WITH_MODEL + "test_a_truncated_log_keeps_its_end_and_is_read_back_by_its_handle",
            ),
        ),
    ),
    Rule(
        "fail-17",
        "A queue that closed is said once, and what nobody hears is stopped.",
        (
            broken(
                "each event that is dropped is a line",
                _QUEUE + "._close",
                "self.closed is None",
                "reason",
                _QUEUES + "test_thirty_five_events_after_closure_log_one_line",
            ),
            broken(
                "a run whose events cannot be stored goes on",
                "utils/a2a_common/engine/turn_runner.py::_first",
                "asyncio.wait([work, waiting], return_when=asyncio.FIRST_COMPLETED)",
                "asyncio.wait([work])",
                "tests/unit/engine/test_turn_runner.py::"
                "test_a_run_whose_events_cannot_be_stored_is_stopped_and_its_task_failed",
            ),
        ),
    ),
    Rule(
        "fail-19",
        "A turn ends after its most model calls, whatever the model wants.",
        (
            broken(
                "the limit is put where nothing reads it",
                "utils/a2a_common/graph/model/turn_limits.py::ModelCallLimit.awrap_model_call",
                "calls_this_turn(request.messages) < self._limit",
                "calls_this_turn(request.messages) < 1000000",
                "tests/e2e/agents/test_limits.py::test_a_model_that_never_comes_to_an_end_is_ended",
            ),
            broken(
                "calls of all turns are counted together",
                "utils/messages/transcript.py::calls_this_turn",
                "messages if start is None else messages[start + 1:]",
                "messages",
                "tests/e2e/agents/test_limits.py::test_a_model_that_never_comes_to_an_end_is_ended",
            ),
        ),
    ),
    Rule(
        "fail-22",
        "Nothing that a user or a model wrote is the label of a metric.",
        (
            Break(
                "a tool that a model made up is a label",
                (
                    Edit(
                        "utils/a2a_common/graph/tools/boundary.py::_observed",
                        "observed_tool_call('unknown')",
                        "observed_tool_call(request.tool_call['name'])",
                    ),
                    Edit(
                        "utils/observability/metrics.py",
                        "'[A-Za-z][A-Za-z0-9_.-]{0,63}'",
                        "'.*'",
                    ),
                ),
                ("tests/e2e/observability/test_metrics.py::test_no_user_no_text_and_no_id_is_ever_a_label",),
            ),
        ),
    ),
    Rule(
        "fail-23",
        "Whether a call failed is what was marked when it ended, and no reading of its text.",
        (
            broken(
                "a text that looks like a failure is one",
                "utils/messages/results.py::failure_in",
                "SHAPE.of(message) is not Shape.PROBLEM",
                "not message.text.startswith('{\"error\"')",
                "tests/unit/delegation/test_synthesis.py::"
                "test_a_result_that_only_looks_like_a_failure_is_what_the_agent_found",
            ),
            broken(
                "a tool does not say what it returned",
                "utils/a2a_common/graph/tools/contained_tool.py::_tool_message",
                "SHAPE.entry(text.shape)",
                "{}",
                "tests/e2e/agents/test_row_files.py::test_the_offline_model_shows_the_rows_and_attaches_them",
            ),
        ),
    ),
)
