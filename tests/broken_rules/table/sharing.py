"""Failures of earlier systems that must stay impossible, 14 to 16 and 24: what is shown, shared and known."""

from __future__ import annotations

from tests.broken_rules.rules import Rule, broken

_BASE = "utils/a2a_common/base_langgraph_agent.py"
_BOUNDARY = "utils/a2a_common/graph/tools/boundary.py"
_INCOMING = "utils/a2a_common/execution/request_parser.py"

_APART = "tests/e2e/agents/test_apart.py::"
_REACH = "tests/e2e/delegation/test_reaching.py::"
_TEAM = "tests/e2e/agents/test_delegation.py::"
_TURNS = "tests/e2e/agents/test_turns.py::"
_PROMPTS = "tests/e2e/agents/test_prompts.py::"


SHARING: tuple[Rule, ...] = (
    Rule(
        "fail-14",
        "A failing tool is never shown as done.",
        (
            broken(
                "a call that failed is ok",
                _BOUNDARY + "::_status",
                "ToolStatus.ERROR if failed else ToolStatus.OK",
                "ToolStatus.OK",
                _TURNS + "test_a_failing_tool_is_never_shown_as_done",
                _TURNS + "test_a_tool_call_with_wrong_arguments_is_never_shown_as_done",
            ),
            broken(
                "a step of the plan whose agent failed is completed",
                "multi_agents/platform_engineer/task_plan.py::Plan.apply",
                "StepStatus.FAILED",
                "StepStatus.COMPLETED",
                _TEAM + "test_a_failed_sub_agent_is_never_read_as_success",
            ),
        ),
    ),
    Rule(
        "fail-15",
        "State of a request is not shared: contexts, owners, plans and tokens stay apart.",
        (
            broken(
                "all conversations are one thread",
                _INCOMING + "::thread_id",
                "(agent, caller.tenant, caller.name, context_id)",
                "(agent, caller.tenant, caller.name)",
                _TURNS + "test_two_contexts_at_once_see_nothing_of_each_other",
            ),
            broken(
                "a context id opens another user's conversation",
                _INCOMING + "::thread_id",
                "(agent, caller.tenant, caller.name, context_id)",
                "(agent, caller.tenant, context_id)",
                _APART + "test_a_context_id_of_another_owner_opens_none_of_their_conversation",
            ),
            broken(
                "a context id opens another tenant's conversation",
                _INCOMING + "::thread_id",
                "(agent, caller.tenant, caller.name, context_id)",
                "(agent, caller.name, context_id)",
                _APART + "test_a_context_id_of_another_owner_opens_none_of_their_conversation",
            ),
            broken(
                "the plan is kept on the agent",
                "multi_agents/platform_engineer/agent.py::PlatformEngineer.stream",
                "Plan(known_steps(begun))",
                "self.__dict__.setdefault('_plan', Plan(known_steps(begun)))",
                _APART + "test_two_tasks_at_once_have_each_their_own_plan_and_usage",
            ),
            broken(
                "what a turn says and uses is kept on the agent",
                _BASE + "::BaseLangGraphAgent._turn",
                "GraphRun(built, self.name, request, config)",
                "self.__dict__.setdefault('_turn', GraphRun(built, self.name, request, config))",
                _APART + "test_two_tasks_at_once_have_each_their_own_plan_and_usage",
            ),
            broken(
                "tasks belong to everybody",
                "utils/a2a_common/protocol/owner.py::owner_of",
                "_key(context.tenant, user)",
                "_key(context.tenant, user[:0])",
                "tests/e2e/wire/test_scope.py::test_a_user_sees_no_task_of_another",
                "tests/e2e/wire/test_grpc_scope.py::test_over_grpc_a_user_reaches_no_task_of_another",
            ),
            broken(
                "tasks belong to every tenant",
                "utils/a2a_common/protocol/owner.py::owner_of",
                "context.tenant",
                "context.tenant[:0]",
                "tests/e2e/wire/test_scope.py::test_a_tenant_sees_no_task_of_another",
                "tests/e2e/wire/test_grpc_scope.py::test_over_grpc_a_tenant_reaches_no_task_of_another",
            ),
        ),
    ),
    Rule(
        "fail-16",
        "The registry knows the configured agents, and nothing waits for them at start.",
        (
            broken(
                "no agents by default",
                "multi_agents/cli/service/plan.py::make_plan",
                "[(one.name, one.module, one.port) for one in entries if one.module and one.port]",
                "[(one.name, one.module, one.port) for one in entries[:0] if one.module and one.port]",
                "tests/e2e/cli/test_up.py::test_each_process_is_told_its_address_and_only_the_supervisor_the_others",
            ),
            broken(
                "the configured list is not read",
                "utils/a2a_common/client/agents/registry.py::SubAgentRegistry.__init__",
                "{name: SubAgent(name, url) for name, url in urls.items()}",
                "{name: SubAgent(name, url) for name, url in urls.items() if not url}",
                _TEAM + "test_a_sub_agent_that_is_down_stops_nothing_and_one_that_comes_up_late_is_used",
            ),
            broken(
                "the start waits for every card",
                "multi_agents/platform_engineer/agent.py::PlatformEngineer.start",
                "self._registry.start()",
                "self._registry.start()\nawait self._registry.until_all_join(60)",
                _REACH
                + "test_an_agent_that_never_answers_for_its_card_holds_up_no_start_and_a_request_only_for_a_while",
            ),
            broken(
                "an agent that was down at start is never asked again",
                "utils/a2a_common/client/agents/registry.py::SubAgentRegistry._step",
                "min(_RETRY_SECONDS, self._refresh_seconds)",
                "3600.0",
                _TEAM + "test_a_sub_agent_that_is_down_stops_nothing_and_one_that_comes_up_late_is_used",
            ),
        ),
    ),
    Rule(
        "fail-24",
        "A prompt names only tools and arguments that its model is offered.",
        (
            broken(
                "the GitHub agent's prompt names a tool that does not exist",
                "agents/github/prompts/system.md",
                "`get_job_logs` alone",
                "`get_build_logs` alone",
                _PROMPTS + "test_an_agents_prompt_names_only_tools_that_its_model_is_offered",
            ),
            broken(
                "the supervisor's prompt names agents that are not known",
                "multi_agents/platform_engineer/agent.py::PlatformEngineer.system_prompt",
                "self._registry.known",
                "self._registry.agents",
                _PROMPTS + "test_the_supervisors_prompt_names_just_the_agents_that_its_model_is_offered",
            ),
        ),
    ),
)
