"""When context management acts besides its fixed shares: for calls that are left, and for another topic."""

from __future__ import annotations

from tests.broken_rules.rules import Rule, broken

_CALLS = "tests/unit/context/test_calls_left.py::"
_TOPIC = "tests/unit/context/test_topic.py::"

THRESHOLDS: tuple[Rule, ...] = (
    Rule(
        "promise-F1.3",
        "Thresholds follow the model calls that a turn has left.",
        (
            broken(
                "they are fixed",
                "utils/context/draft.py::Draft.begins_at",
                "max(at, self.budget - self.calls_left * growth)",
                "at",
                _CALLS
                + "test_results_are_cleared_early_only_where_the_calls_that_are_left_can_fill_the_rest",
            ),
            broken(
                "a call that is left counts for nothing",
                "utils/context/draft.py::Draft.begins_at",
                "self.budget - self.calls_left * growth",
                "self.budget",
                _CALLS
                + "test_results_are_cleared_early_only_where_the_calls_that_are_left_can_fill_the_rest",
            ),
            broken(
                "the task's budget is not looked at",
                "utils/context/task_meter.py::calls_left",
                "left.append(int(steps - meter.steps) - 1)",
                "pass",
                _CALLS + "test_calls_are_left_by_the_turns_limit_and_the_tasks_budget",
            ),
        ),
    ),
    Rule(
        "promise-F0.5",
        "Another topic triggers a summary of what was said before, and leaves its own turn whole.",
        (
            broken(
                "it triggers nothing",
                "utils/context/policy.py::ContextPolicy.for_next_turn",
                "new_topic is None or self.topic_at is None",
                "True",
                _TOPIC
                + "test_a_half_full_conversation_that_turns_to_another_topic_is_summarised_and_the_new_turn_stays",
            ),
            broken(
                "its own turn is summarised as well",
                "utils/context/policy.py::ContextPolicy.for_next_turn",
                "self.topic_at * _TOPIC_TO + turn / self._basis",
                "self.topic_at * _TOPIC_TO * 0.1",
                _TOPIC
                + "test_a_half_full_conversation_that_turns_to_another_topic_is_summarised_and_the_new_turn_stays",
            ),
            broken(
                "every follow-up is another topic",
                "utils/context/topic.py::changed_topic",
                "nearest < ANOTHER",
                "nearest < 2.0",
                _TOPIC + "test_another_topic_is_told_from_a_follow_up_and_from_thanks",
            ),
            broken(
                "thanks are another topic",
                "utils/context/topic.py::changed_topic",
                "len(turns) < 2 or not _may_begin(turns[-1][0])",
                "len(turns) < 2",
                _TOPIC + "test_another_topic_is_told_from_a_follow_up_and_from_thanks",
            ),
        ),
    ),
)
