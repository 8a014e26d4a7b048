"""The supervisor: an agent whose tools are other agents."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import structlog

from multi_agents.platform_engineer.starting import Starting
from multi_agents.platform_engineer.sub_agents import sub_agents
from multi_agents.platform_engineer.subject import is_other_subject
from utils.a2a_common.base_langgraph_agent import BaseLangGraphAgent
from utils.a2a_common.protocol.extensions import SCOPE_EXTENSION
from utils.a2a_common.protocol.memories import MEMORY_DESCRIPTION, MEMORY_EXTENSION
from utils.a2a_common.protocol.readiness import Readiness
from utils.a2a_common.protocol.request import AgentRequest
from utils.a2a_common.protocol.skill import Skill
from utils.a2a_common.protocol.trust import Trust
from utils.auth.settings import TrustSettings
from utils.events import (
    AgentEvent,
    ArtifactAdded,
    Completed,
    InputRequired,
    PlanUpdated,
    SuggestionsReady,
    Usage,
)
from utils.memory.settings import MemorySettings
from utils.messages.question import Question
from utils.protection_settings import ClientTlsSettings
from utils.settings import ModelProvider, SubAgentSettings
from utils.timing import Deadline

if TYPE_CHECKING:
    from langchain.agents.middleware import AgentMiddleware
    from langchain_core.tools import BaseTool
    from langgraph.types import StateSnapshot

    from multi_agents.platform_engineer.delegation import Delegation
    from multi_agents.platform_engineer.memory.remembering import Remembering
    from multi_agents.platform_engineer.protocol_bindings.a2a.agent_executor import SupervisorExecutor
    from multi_agents.platform_engineer.task_plan import Call, Plan
    from utils.a2a_common.client.delegation.abandoned import Abandoned
    from utils.a2a_common.graph.runtime import AgentRuntime
    from utils.a2a_common.graph.tools.agent_tool import AgentTool
    from utils.a2a_common.protocol.card_options import CardOptions
    from utils.a2a_common.protocol.conversations import Kept
    from utils.memory.long_term import LongTermMemory
    from utils.persistence.stores import Contexts, Delegations

log = structlog.get_logger(__name__)

_PROMPT = (Path(__file__).parent / "prompts" / "system.md").read_text("utf-8")


class PlatformEngineer(BaseLangGraphAgent):
    """Plans, delegates to sub-agents over A2A, and answers from what they return.

    An agent that delegates is a subclass of it: with a name, a description, a role and, where it has some, tools
    of its own. Its sub-agents are those of its own `SUB_AGENTS`.

    Class attributes:
        role: The role of the model in the prompt: the end of a sentence that begins with "You are".
    """

    name = "platform-engineer"
    description = "Answers platform engineering questions by delegating to specialist agents."
    skills: tuple[Skill, ...] = (
        Skill(
            id="delegate",
            name="Plan and delegate",
            description="Splits a request into sub-tasks, delegates each to the agent that fits, and joins the results.",
            examples=(
                "How do I add a sub-agent?",
                "List the open pull requests of octocat/hello-world",
                "What do the docs say about releases, and which releases has octocat/hello-world?",
            ),
            tags=("platform-engineering", "supervisor"),
        ),
    )

    role: ClassVar[str] = (
        "the platform engineer: you answer questions about platform engineering by delegating to specialist agents."
    )
    shown_examples = 6  # a sub-agent has many skills, and one tool

    def __init__(self, runtime: AgentRuntime) -> None:
        from multi_agents.platform_engineer.access import Access
        from multi_agents.platform_engineer.memory.requests import MemoryRequests
        from utils.a2a_common.client.agents.card_keys import card_checks
        from utils.a2a_common.client.agents.registry import SubAgentRegistry
        from utils.a2a_common.client.delegation.remote_agents import ClientPool
        from utils.a2a_common.client.transport.credentials import origin_of
        from utils.a2a_common.client.transport.tls import client_context

        super().__init__(runtime)
        settings = SubAgentSettings.load(runtime.environ)
        trust = TrustSettings.load(runtime.environ)
        entries = sub_agents(settings, trust)
        self._shares = {entry.name: entry.shares for entry in entries}
        self._cards = runtime.stores.cards()
        self._own = frozenset(entry.name for entry in entries if entry.trust is Trust.OWN)
        self._registry = SubAgentRegistry(
            {entry.name: entry.url for entry in entries},
            refresh_seconds=settings.refresh_seconds,
            restart_seconds=settings.restart_seconds,
            on_change=self.build,
            on_up=self._came_up,
            cards=self._cards,
            tls=(tls := client_context(ClientTlsSettings.load(runtime.environ))),
            checks=card_checks(trust.card_keys, self._shares.keys()),
        )
        self._starting = Starting(self._registry, settings.wait_seconds)
        origins = {each.name: {origin_of(url) for url in (each.url, *trust.origin_list)} for each in entries}
        self._access = Access(self.name, entries, runtime.settings)
        self._pool = ClientPool(
            settings.largest_answer, self._access.credentials, origins.get, tls, self._own
        )
        self._settings = settings
        self._opened = AsyncExitStack()
        self._contexts: Contexts | None = None
        self._delegations: Delegations | None = None
        self._delegation: Delegation | None = None
        self._abandoned: Abandoned | None = None
        self._memory_settings = MemorySettings.load(runtime.environ)
        self._memory: LongTermMemory | None = None
        self._remembering: Remembering | None = None
        self.message_answers = (MemoryRequests(lambda: self._memory),)
        self.preparation = self._access

    def _came_up(self, name: str) -> None:
        if self._delegation is not None:
            self._delegation.came_up(name)
        if self._abandoned is not None:
            self._abandoned.came_up(name)

    async def start(self) -> None:
        """Begin to look for the sub-agents; those that are down join when they come up."""
        async with AsyncExitStack() as stack:
            await self._open_stores(stack)
            self._delegate(stack)
            await self._remember(stack)
            self._registry.start()
            stack.push_async_callback(self._registry.stop)
            self._opened = stack.pop_all()

    async def stop(self) -> None:
        """Close the connections to the sub-agents and everything else that was opened, even if a part of it fails."""
        await self._opened.aclose()

    async def _open_stores(self, stack: AsyncExitStack) -> None:
        self._contexts = self.runtime.stores.contexts()
        self._delegations = self.runtime.stores.delegations()
        for store in (self._contexts, self._delegations, self._cards):
            stack.push_async_callback(store.close)
            await store.open()
        await self._registry.recall()

    def _delegate(self, stack: AsyncExitStack) -> None:
        from multi_agents.platform_engineer.delegation import Delegation
        from multi_agents.platform_engineer.seen_files import SeenFiles
        from utils.a2a_common.client.delegation.abandoned import Abandoned
        from utils.a2a_common.client.delegation.remote_agents import RemoteAgents
        from utils.llm.inputs import file_types

        assert self._contexts is not None
        assert self._delegations is not None
        stack.push_async_callback(self._pool.aclose)
        seconds = self._settings.progress_seconds
        remotes = RemoteAgents(self._registry, self._pool, self._contexts, progress_seconds=seconds)
        self._abandoned = Abandoned(self._delegations, self._registry, remotes.reach)
        stack.push_async_callback(self._abandoned.stop)
        self._delegation = Delegation(
            self._registry,
            remotes,
            self._contexts,
            self._delegations,
            me=(self.name, self.url),
            shares=self._shares,
            own=self._own,
            settings=self._settings,
            whole_text=self._middlewares.context.whole_text,
            files=SeenFiles(file_types(self.runtime.model), self.runtime.settings.files),
            key=self.runtime.answer_key(),
        )

    async def _remember(self, stack: AsyncExitStack) -> None:
        from multi_agents.platform_engineer.memory.opening import long_term_memory
        from multi_agents.platform_engineer.memory.remembering import Remembering

        memory = await long_term_memory(self.runtime, self._memory_settings)
        if memory is None:
            return
        stack.push_async_callback(memory.close)
        await memory.open()
        self._memory = memory
        self._remembering = Remembering(memory, self.runtime, self._middlewares.context.summariser)
        stack.push_async_callback(self._remembering.close)

    async def clear_context(self, thread_id: str) -> None:
        """Forget a conversation, here and at the sub-agents; those that do not know how are given new ones."""
        await super().clear_context(thread_id)
        if self._memory is not None:
            await self._memory.forget_conversation(thread_id)
        if self._delegation is not None:
            await self._delegation.forget(thread_id)

    async def delete_conversation(self, thread_id: str, task_ids: Sequence[str]) -> None:
        """Delete the stored data of a conversation here; `delete_below` deletes it at the sub-agents."""
        await super().delete_conversation(thread_id, task_ids)
        if self._memory is not None:  # last, so that nothing more is learnt from the conversation
            await self._memory.forget_conversation(thread_id)
        if self._contexts is not None and self._delegations is not None:
            await self._contexts.delete(thread_id)
            await self._delegations.delete(thread_id)

    async def delete_below(self, thread_id: str) -> Sequence[Kept]:
        """Have a conversation deleted at the sub-agents; return those that still have data of it."""
        return () if self._delegation is None else await self._delegation.delete(thread_id)

    async def readiness(self) -> Readiness:
        """Ready once every sub-agent is up; one that stays down is waited for a while, and then done without."""
        return self._starting.readiness()

    def card_options(self) -> CardOptions:
        """The card also names the agents behind this one, and announces the memory extension."""
        from multi_agents.platform_engineer.introductions import with_introductions

        options = super().card_options()
        extensions = {**options.extensions, MEMORY_EXTENSION: MEMORY_DESCRIPTION}
        return with_introductions(replace(options, extensions=extensions), self._registry.agents)

    @property
    def only_reads(self) -> bool:
        """Whether no tool changes anything, those that are sub-agents included; not if the card of one was never read."""
        return super().only_reads and len(self._registry.known) == len(self._registry.agents)

    def system_prompt(self) -> str:
        """The instruction, with the names of the agents that are known now; the abilities of each are described at its tool."""
        names = ", ".join(agent.name for agent in self._registry.known)
        prompt = _PROMPT.replace("{role}", self.role)
        return prompt.replace("{agents}", names or "none at the moment")

    async def tools(self) -> Sequence[BaseTool | AgentTool]:
        """The agent's own tools, those of its memory, and one delegation tool for each known sub-agent.

        The offline model gets none of the memory tools: it would choose them by words that other requests have too.
        """
        from multi_agents.platform_engineer.memory.tools import memory_tools

        asks = self._memory_settings.on and self.runtime.settings.llm.provider is not ModelProvider.EMBEDDED
        own = memory_tools(self._memory) if self._memory and asks else []
        delegations = [] if self._delegation is None else self._delegation.tools()
        return [*await super().tools(), *own, *delegations]

    def executor(self) -> SupervisorExecutor:
        """What runs the supervisor's turns as A2A tasks."""
        from multi_agents.platform_engineer.protocol_bindings.a2a.agent_executor import SupervisorExecutor

        seconds = self.runtime.settings.recovery.turn_timeout_seconds
        return SupervisorExecutor(self, self._access, turn_seconds=seconds)

    def model_middleware(self) -> Sequence[AgentMiddleware[Any, Any]]:
        """Passes complete answers on, offers the agents that fit, publishes the plan before its steps begin, saves results."""
        from multi_agents.platform_engineer.agent_selector import AgentSelector
        from multi_agents.platform_engineer.early_answers import EarlyAnswers
        from multi_agents.platform_engineer.node_outputs_middleware import NodeOutputsMiddleware
        from multi_agents.platform_engineer.passed_answer import PassedAnswer
        from multi_agents.platform_engineer.synthesis_fallback import SynthesisFallback
        from multi_agents.platform_engineer.task_plan_middleware import PlanMiddleware
        from utils.a2a_common.graph.middleware_stack import composed

        return composed(
            (
                # model: a sub-agent's answer to the complete request is the answer, without a model call
                PassedAnswer(),
                # model: marks the results that the user has read already, beside a question of another agent
                EarlyAnswers(),
                # model: where all remedies failed, the results are summarised with a small prompt
                SynthesisFallback(self._settings.synthesis_turns),
                # model: of many sub-agents, those that fit the conversation are offered
                AgentSelector(self._settings.shown),
                # model: the delegations of its answer become steps of the plan
                PlanMiddleware(lambda: {agent.name for agent in self._registry.known}),
                # tool: the result of a delegation is kept, so that later requests can refer to it
                NodeOutputsMiddleware(),
            )
        )

    async def stream(self, request: AgentRequest) -> AsyncGenerator[AgentEvent, None]:
        """The base agent's turn, with the plan kept up to date.

        1. Right after a start it waits for the agents.
        2. A message on another subject than the open question is no answer: `_subject_checked`.
        3. A recovered request counts what its sub-agents have used; memories of the user are added to it.
        4. If an agent that waits for the answer restarts, the turn waits for it.
        5. Events pass unchanged, except the plan, which is sent in full whenever it changes; other agents' answers come before a question.
        6. After the end the turn may be remembered, and likely next requests are suggested.
        """
        from multi_agents.platform_engineer.task_plan import Plan, known_steps

        async with aclosing(self._starting.until_all_are_known(Deadline(request.deadline).left)) as updates:
            async for starting in updates:
                yield starting
        request = await self._counted(await self._subject_checked(request))
        if self._remembering is not None:
            request = replace(request, known=await self._remembering.known(request))
        if request.resumes and self._delegation is not None:
            async with aclosing(self._delegation.until_reached(request)) as waits:
                async for waited in waits:
                    yield waited
                    if isinstance(waited, InputRequired):
                        return
        goes_on = request.resumes or request.recovered
        begun = await self._delegations.of_task(request.task_id) if self._delegations and goes_on else []
        plan = Plan(known_steps(begun))
        if request.recovered:
            plan.recall(await self._left(request))
        async with aclosing(super().stream(request)) as events:
            async for event in events:
                if isinstance(event, Completed) and self._remembering and self._built:
                    self._remembering.begin(request, self._built, self._config(request), self._after)
                if isinstance(event, Completed) and (suggested := self._suggestions(request, plan)):
                    yield suggested
                if isinstance(event, InputRequired):
                    for answer in await self._early_answers(request):
                        yield answer
                if not isinstance(event, PlanUpdated):
                    yield event
                updated = plan.apply(event)
                if updated is not None:
                    yield updated

    async def _early_answers(self, request: AgentRequest) -> Sequence[ArtifactAdded]:
        """The answers of the agents that were called together with the one that asks the user."""
        from multi_agents.platform_engineer.early_answers import early_answers

        return await early_answers(await self._state(request), request, self._middlewares.context.whole_text)

    async def _left(self, request: AgentRequest) -> Sequence[Call]:
        """The delegations that the model requested last before the process died."""
        from multi_agents.platform_engineer.task_plan import delegations_left

        messages = (await self._state(request)).values.get("messages", ())
        return delegations_left(messages, {agent.name for agent in self._registry.known})

    async def _state(self, request: AgentRequest) -> StateSnapshot:
        if self._built is None:
            await self.build()
        assert self._built is not None
        state: StateSnapshot = await self._built.graph.aget_state(self._config(request))
        return state

    async def _counted(self, request: AgentRequest) -> AgentRequest:
        """Return a recovered request with what its remote tasks had used before the process died."""
        if not request.recovered or self._delegation is None:
            return request
        used = (await self._delegation.used(request.task_id)).by_agent
        request.meter.add(sum(used.values(), Usage()))
        return replace(request, used={**request.used, **used})

    def _suggestions(self, request: AgentRequest, plan: Plan) -> SuggestionsReady | None:
        """What the user is likely to ask next; another agent does not need it."""
        from multi_agents.platform_engineer.suggestions import suggestions_after

        return (
            None if request.delegation else suggestions_after(request.text, plan.done, self._registry.known)
        )

    async def _subject_checked(self, request: AgentRequest) -> AgentRequest:
        """Return the request; clear `resumes` if the user changed the subject, and cancel what waits for the answer."""
        if not request.resumes or request.judged or self._delegation is None:
            return request
        waiting = await self._delegation.waiting(request.task_id)
        question = Question.of(waiting[0].questions[-1]).text if waiting else ""
        data = [part for part in request.data if SCOPE_EXTENSION not in part]
        if not question or (not request.repeats and await self.is_answer(question, request.text, data)):
            return request
        log.info("delegation.subject_changed", task_id=request.task_id)
        await self.cancel_children(request.task_id)
        await self.forget_calls(request.task_id)
        return replace(request, resumes=False)

    async def is_answer(self, question: str, text: str, data: Sequence[Mapping[str, Any]]) -> bool:
        """Whether a message answers a question: decided by its form, and by the model where that is not enough."""
        embedded = self.runtime.settings.llm.provider is ModelProvider.EMBEDDED
        model = None if embedded else self.runtime.model
        return not await is_other_subject(question, text, data, model)

    async def cancel_children(self, task_id: str) -> None:
        """Cancel the open sub-tasks of a task that ends."""
        if self._abandoned is not None:
            await self._abandoned.end(task_id)
