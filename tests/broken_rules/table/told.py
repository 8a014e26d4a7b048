"""What other agents are told, and what they say in return: no more than our configuration allows or than is shown."""

from __future__ import annotations

from tests.broken_rules.rules import Rule, broken

_SCOPE = "utils/a2a_common/protocol/delegation_context.py"
_SHARES = "tests/e2e/delegation/test_shares.py::"

TOLD: tuple[Rule, ...] = (
    Rule(
        "told-01",
        "Nothing that an agent is told opens the task that it works for.",
        (
            broken(
                "an agent is told the task's own id",
                "multi_agents/platform_engineer/delegation_scope.py::DelegationScopes._whole_scope",
                "reference_of(request.task_id)",
                "request.task_id",
                "tests/e2e/delegation/test_attacker.py::"
                "test_nothing_that_a_sub_agent_is_told_opens_the_users_task_or_answers_its_question",
            ),
        ),
    ),
    Rule(
        "told-02",
        "An agent is told as much of a conversation as our configuration says.",
        (
            broken(
                "every agent is told everything",
                _SCOPE + "::DelegationContext.within",
                "shares is Shares.RESULTS",
                "shares",
                _SHARES + "test_an_agent_that_is_not_ours_is_told_its_sub_task_alone",
                _SHARES + "test_an_agent_may_be_told_the_original_request_without_results",
            ),
            broken(
                "an agent that takes text alone is sent JSON",
                _SCOPE + "::takes_delegation_context",
                "declared or (shares is not Shares.NOTHING and JSON in card.default_input_modes)",
                "True or (shares is not Shares.NOTHING and JSON in card.default_input_modes)",
                _SHARES + "test_an_agent_that_takes_text_alone_is_sent_text_alone_and_answers",
            ),
        ),
    ),
    Rule(
        "told-03",
        "Who asks is told by our name for the agent, and a refusal is no broken line.",
        (
            broken(
                "an agent says itself who asks",
                "utils/a2a_common/graph/questions/interrupts.py::origin_of",
                "agent if name in ('', agent) else f'{agent} > {name}'",
                "name or agent",
                "tests/e2e/delegation/test_relay.py::"
                "test_a_question_names_the_agent_by_our_name_whoever_it_says_it_is",
            ),
            broken(
                "a refusal counts as an agent that cannot be reached",
                "utils/a2a_common/client/transport/errors.py::failure_of",
                "SubAgentRefused",
                "SubAgentUnavailable",
                "tests/e2e/delegation/test_refusals.py::test_refusals_do_not_make_an_agent_unavailable",
            ),
        ),
    ),
)
