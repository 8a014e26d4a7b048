"""`BaseLangGraphAgent`: the class that every agent subclasses. Hooks only; the work is elsewhere.

The smallest agent only names itself; every hook has a default. This one has a tool too:

    class Clock(BaseLangGraphAgent):
        name = "clock"
        description = "Tells the time."

        @agent_tool(examples=["What time is it?"])
        async def what_time(self) -> str:
            \"\"\"Tell the time.\"\"\"
            return datetime.now(UTC).isoformat()
"""

from __future__ import annotations

from abc import ABC
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from utils.a2a_common.graph.identity import check_class, default_prompt
from utils.a2a_common.graph.runtime import AgentRuntime
from utils.a2a_common.graph.tools.agent_tool import AgentTool, built, declared_tools
from utils.a2a_common.protocol.card_options import CardOptions
from utils.a2a_common.protocol.conversations import Kept
from utils.a2a_common.protocol.extensions import NOTICE_ARTIFACT, asks_to_clear
from utils.a2a_common.protocol.media_modes import INPUT_MODES, OUTPUT_MODES
from utils.a2a_common.protocol.readiness import Readiness
from utils.a2a_common.protocol.request import AgentRequest
from utils.a2a_common.protocol.rules import parse_rules_request
from utils.a2a_common.protocol.skill import Skill
from utils.events import AgentEvent, ArtifactAdded, Completed, ContextCompacted, TextDelta, TextPart
from utils.keyed_locks import KeyedLocks
from utils.process_wide import install

if TYPE_CHECKING:
    from pathlib import Path

    from langchain.agents.middleware import AgentMiddleware
    from langchain_core.runnables import RunnableConfig
    from langchain_core.tools import BaseTool
    from langgraph.graph import StateGraph
    from langgraph.types import StateSnapshot
    from pydantic import BaseModel
    from starlette.middleware import Middleware

    from utils.a2a_common.execution.executor import BaseLangGraphAgentExecutor
    from utils.a2a_common.graph.after_turn import AfterTurn
    from utils.a2a_common.graph.middleware_stack import MiddlewareStack
    from utils.a2a_common.graph.own.parts import GraphParts
    from utils.a2a_common.graph.run.graph_run import BuiltGraph
    from utils.a2a_common.graph.run.user_message import Content
    from utils.a2a_common.protocol.before_turn import MessageAnswers, Preparation
    from utils.mcp.servers import McpServers
    from utils.persistence.erasure import Personal
    from utils.persistence.tool_record import ToolRecord


CLEARED = "Forgotten. The conversation begins anew."  # the answer to a request to forget


class BaseLangGraphAgent(ABC):
    """An agent on a LangGraph graph: a model, a prompt and tools, served over A2A.

    A subclass without name or description, or with another thing in the place of an attribute or method of this
    class, is refused with a `TypeError` where it is defined, unless ABC is among its own bases.

    Class attributes:
        name: Short name; lower case, digits and hyphens. Also the name on the wire. Required.
        description: What it does, in a sentence. A supervisor routes by it. Required.
        skills: The skills on its card, with example requests; derived from the tools where it is empty.
        version: Version on the card; by default that of this project.
        input_modes, output_modes: Media types that it accepts and returns; a message with a part of another type is refused.
        answers_with_message: Whether it may answer with a `MessageAnswer`; its tasks then begin with its first event.
        shown_examples: Most example requests of one tool that a model is shown.
        summary_prompt: The instruction for summaries of a long conversation, `{words}` for their length; the
            usual one when unset. `CONTEXT_SUMMARY_PROMPT_FILE` takes precedence.
        state_schema: State of the graph beside the messages, as `create_agent` takes it; a tool reads it in `ToolRuntime.state`
            and changes it by returning a `Command`. None by default.
        answer_schema: A pydantic model that every answer fills, a data artifact. Not with the offline model. None by default.
        own_tables: Folder with migrations (`0001_name.sql`, …) of the agent's own tables in PostgreSQL. None by default.
    """

    __test__: ClassVar[bool] = False  # pytest takes classes named `Test…` for tests
    name: ClassVar[str]
    description: ClassVar[str]
    skills: tuple[Skill, ...] = ()
    version: ClassVar[str | None] = None
    input_modes: ClassVar[Sequence[str]] = INPUT_MODES
    output_modes: ClassVar[Sequence[str]] = OUTPUT_MODES
    answers_with_message: ClassVar[bool] = False
    shown_examples: ClassVar[int] = 3
    summary_prompt: ClassVar[str | None] = None
    state_schema: ClassVar[type[Any] | None] = None
    answer_schema: ClassVar[type[BaseModel] | None] = None
    own_tables: ClassVar[Path | None] = None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if ABC not in cls.__bases__:
            check_class(cls, BaseLangGraphAgent)

    def __init__(self, runtime: AgentRuntime) -> None:
        install()
        self.runtime = runtime
        self.url = ""  # where clients reach it: set by the server before `start`
        self._built: BuiltGraph | None = None
        self._tool_skills: tuple[Skill, ...] = ()
        self._mcp = self._mcp_servers()
        self.on_rebuilt: Callable[[], None] = lambda: None
        self.message_answers: Sequence[
            MessageAnswers
        ] = ()  # answers messages of its own extensions, without a task
        self.preparation: Preparation | None = None  # prepares the turn of a message, before it begins
        self._threads: KeyedLocks[str] = KeyedLocks()

    def system_prompt(self) -> str:
        """The instruction before every conversation; derived from name and description by default."""
        return default_prompt(self.name, self.description)

    async def tools(self) -> Sequence[BaseTool | AgentTool]:
        """The tools that the model may call: the methods marked with `@agent_tool` by default.

        Called after `start`, and again whenever the graph is rebuilt.
        """
        return declared_tools(self)

    async def graph(self, parts: GraphParts) -> StateGraph[Any, Any, Any, Any] | None:
        """A LangGraph graph of the agent's own, not compiled; `None`, the default, for model and tools alone.

        Use `parts.agent` as a node of it, so that the model's calls keep their context management, repair,
        retries and limits. Conversation, checkpoints, streaming, questions and cancel are kept around the graph.
        """
        del parts
        return None

    def card_options(self) -> CardOptions:
        """Further fields of the card: documentation, security schemes, gRPC, capabilities, further extensions."""
        return CardOptions()

    async def start(self) -> None:
        """Open what the agent needs. Called once, before the first request."""

    async def stop(self) -> None:
        """Close what `start` opened."""

    async def close(self) -> None:
        """Close everything, even if a part of it fails: what runs in the background, what `start` opened, and MCP servers."""
        async with AsyncExitStack() as stack:  # the last one goes first
            servers = [self._mcp.stop] if self._mcp is not None else []
            for close in (self._tool_record.close, self.stop, *servers):
                stack.push_async_callback(close)
            if "_after" in vars(self):
                stack.push_async_callback(self._after.close)

    async def cancel_children(self, task_id: str) -> None:
        """Cancel the sub-tasks of a task that ends, before its end is published; none by default.

        A subclass that holds something elsewhere ends it here. Called however the task ends, also while it waited.
        """

    async def forget_calls(self, task_id: str) -> None:
        """Delete the record of the tool calls of a task that has ended, and whose turn can never be resumed.

        Not before: a process that died between this and the end of its task would run the tools again.
        """
        await self._tool_record.open()
        await self._tool_record.forget(task_id)

    async def is_answer(self, question: str, text: str, data: Sequence[Mapping[str, Any]]) -> bool:
        """Whether a message that names no task answers the question of this conversation's waiting task.

        If so, that task continues; if not, it is canceled, since its conversation continues without it. A plain
        agent treats each such message as a new request.
        """
        del question, text, data
        return False

    async def readiness(self) -> Readiness:
        """Whether the agent can take work now."""
        return Readiness(ready=True)

    @property
    def mcp_note(self) -> str:
        """The MCP servers, and those of their tools, that are unavailable to the agent; empty if all are available."""
        return self._mcp.note() if self._mcp else ""

    def model_middleware(self) -> Sequence[AgentMiddleware[Any, Any]]:
        """LangChain middleware around the model and its tools, inside the agent's own; none by default."""
        return ()

    def http_middleware(self) -> Sequence[Middleware]:
        """Starlette middleware around every HTTP request, after the check of `Host` and `Origin`; none by default."""
        return ()

    @cached_property
    def _middlewares(self) -> MiddlewareStack:
        from utils.a2a_common.graph.middleware_stack import middleware_stack

        return middleware_stack(self.runtime, self._tool_record, self.summary_prompt)

    @cached_property
    def _tool_record(self) -> ToolRecord:
        """Where tool calls are recorded: stored where conversations survive the process, else in memory."""
        from langgraph.checkpoint.memory import InMemorySaver

        from utils.persistence.tool_record import MemoryToolRecord

        if isinstance(self.runtime.checkpointer, InMemorySaver):
            return MemoryToolRecord()
        return self.runtime.stores.tool_record()

    @cached_property
    def _after(self) -> AfterTurn:
        from utils.a2a_common.graph.after_turn import AfterTurn
        from utils.a2a_common.graph.constraint_finder import ConstraintFinder

        return AfterTurn(self._middlewares.context, ConstraintFinder(self.runtime), self._threads)

    def executor(self) -> BaseLangGraphAgentExecutor:
        """What runs this agent's turns as A2A tasks."""
        from utils.a2a_common.execution.executor import BaseLangGraphAgentExecutor

        return BaseLangGraphAgentExecutor(
            self, turn_seconds=self.runtime.settings.recovery.turn_timeout_seconds
        )

    async def build(self) -> None:
        """Make the graph from prompt, tools and middleware; a running turn keeps the one it began with.

        Raises:
            StorageError: The record of tool calls cannot be opened.
        """
        await self._tool_record.open()
        if self._mcp is not None:
            await self._mcp.start(self._rebuild)
        await self._rebuild()

    async def _rebuild(self) -> None:
        self._built = await self._build()
        self.on_rebuilt()

    @property
    def offered_skills(self) -> tuple[Skill, ...]:
        """The skills on the card now: the agent's own, and the tools of the MCP servers that were reached."""
        from utils.a2a_common.graph.tools.mcp_skills import skills_of

        own = self.skills or self._tool_skills
        return (*own, *skills_of(self._mcp.offers() if self._mcp else ()))

    @property
    def only_reads(self) -> bool:
        """Whether the agent changes nothing, as its card then says: each tool is declared read-only. Not known of an own graph."""
        return self._built is not None and self._built.only_reads and not self.mcp_note

    def _mcp_servers(self) -> McpServers | None:
        if not self.runtime.settings.mcp.servers:
            return None
        from utils.mcp.servers import mcp_servers

        return mcp_servers(self.runtime.settings.mcp, self.runtime.environ, self.name)

    async def _build(self) -> BuiltGraph:
        from utils.a2a_common.graph.graph_build import build_graph, offered_by
        from utils.a2a_common.graph.tools.skills import skills_from
        from utils.messages.tool_examples import described

        own = built(await self.tools())
        self._tool_skills = skills_from(own)
        stack = self._middlewares.stack(self.model_middleware())
        joined = self._mcp.tools(own, offered_by(stack)) if self._mcp else ()
        tools = [described(tool, self.shown_examples) for tool in (*own, *joined)]
        return await build_graph(self, tools, stack)

    async def stream(self, request: AgentRequest) -> AsyncGenerator[AgentEvent, None]:
        """Work on one request and yield its events as they happen.

        Turns of one conversation run one after the other. The last event is `Completed`, `Failed` or `InputRequired`; an
        error that ends the turn is raised. However it ends, the next turn can continue the stored conversation.
        """
        async with self._threads.of(request.thread_id), aclosing(self._run(request)) as events:
            async for event in events:
                yield event

    async def _run(self, request: AgentRequest) -> AsyncGenerator[AgentEvent, None]:
        if self._built is None:
            await self.build()
        if asks_to_clear(request.data):
            await self.clear_context(request.thread_id)
            yield TextDelta(CLEARED)
            yield Completed()
            return
        assert self._built is not None
        if (asked := parse_rules_request(request.data)) is not None:
            from utils.a2a_common.graph.rule_requests import rule_events

            async for event in rule_events(self._built, self._config(request), asked):
                yield event
            return
        async with aclosing(self._turn(request, self._built)) as events:
            async for event in events:
                yield event

    async def _turn(self, request: AgentRequest, built: BuiltGraph) -> AsyncGenerator[AgentEvent, None]:
        """Fetch the message's files, make room for it, run the graph, and begin the work after the answer."""
        from utils.a2a_common.graph.run.graph_run import GraphRun
        from utils.a2a_common.graph.run.user_message import user_content, with_files

        request, notes = await with_files(request, built.takes, self.runtime.settings.files)
        for status in notes:
            yield status
        config = self._config(request)
        turn = GraphRun(built, self.name, request, config)
        state = await turn.open()
        notice = self._notice(state, request)
        if not turn.goes_on:
            query = user_content(request, built.takes)
            for compacted in await self._preflight_context_check(config, query, state):
                yield compacted
        async with aclosing(turn.events()) as events:
            async for event in events:
                yield event
        if not turn.waits:
            text = None if turn.is_answer else request.text
            self._after.begin(built, config, text, of_user=request.delegation is None, size=turn.size)
        for event in turn.finish():
            if isinstance(event, Completed) and notice:
                yield ArtifactAdded((TextPart(notice),), NOTICE_ARTIFACT)
            yield event

    def _config(self, request: AgentRequest) -> RunnableConfig:
        from utils.a2a_common.graph.model.turn_limits import recursion_limit

        return {
            "configurable": {"thread_id": request.thread_id, "task_id": request.task_id},
            "recursion_limit": recursion_limit(self._middlewares.model_calls),
        }

    async def _preflight_context_check(
        self, config: RunnableConfig, query: Content, state: StateSnapshot
    ) -> list[ContextCompacted]:
        """Make room for a turn before it begins, where the conversation does not fit, without a model.

        Args:
            config: The config of the conversation's thread.
            query: The user's message of this turn.
            state: The conversation before the turn.

        Returns:
            What was done; empty if there is room.
        """
        from langchain_core.messages import HumanMessage, SystemMessage

        built, context, done = self._built, self._middlewares.context, list[ContextCompacted]()
        if built is None or not state.values.get("messages"):
            return done
        update = await context.preflight(
            state.values,
            [HumanMessage(query)],
            system=SystemMessage(built.system),
            tools=[*built.tools, *context.tools],
            scope=config["configurable"]["thread_id"],
            write=done.append,
        )
        if update is not None and not state.interrupts:
            await built.update(config, update)
        return done

    async def clear_context(self, thread_id: str) -> None:
        """Forget the conversation of this `AgentRequest.thread_id`, with texts left out of it. Its tasks stay.

        Raises:
            StorageError: The stored texts cannot be deleted.
        """
        await self._after.forget(thread_id)
        await self.runtime.checkpointer.adelete_thread(thread_id)

    async def delete_conversation(self, thread_id: str, task_ids: Sequence[str]) -> None:
        """Delete what the agent stores of a conversation besides its tasks; an agent with storage of its own extends this."""
        await BaseLangGraphAgent.clear_context(self, thread_id)
        for task_id in task_ids:
            await self.forget_calls(task_id)

    async def delete_below(self, thread_id: str) -> Sequence[Kept]:  # noqa: ARG002 - for those that delegate
        """Have a conversation deleted at the agents behind this one; return those that still have data of it."""
        return ()

    @classmethod
    def personal(cls, tenant: str, person: str) -> Sequence[Personal]:  # noqa: ARG003 - for those that keep any
        """Stored data of a person (issuer and subject) besides conversations, for the command `erase`."""
        return ()

    def _notice(self, state: StateSnapshot, request: AgentRequest) -> str:
        """The notice that a user gets once, with the first answer; another agent does not need it."""
        if not self.runtime.notice or request.delegation is not None:
            return ""
        earlier = [each for each in state.values.get("messages", ())[:1] if each.id != request.turn_id]
        return "" if earlier else self.runtime.notice
