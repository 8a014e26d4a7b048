"""The tools that change something on GitHub. Each asks for approval first and shows exactly what will be sent."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pydantic import BaseModel, Field

from agents.github.authorisation.grant import owner_key
from agents.github.changes.change import Change
from agents.github.changes.journal import Entry
from agents.github.client import path_of
from agents.github.tools.arguments import SHARED_ARGUMENTS, RepositoryArguments
from utils.a2a_common.tasks.begun_effects import note_effect
from utils.auth.service_tokens import person_of
from utils.messages import repeatable
from utils.messages.repeatable import REPEATABLE
from utils.messages.results import Result

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage
    from langchain_core.tools import BaseTool

    from agents.github.changes.sender import Sender

A = TypeVar("A", bound=BaseModel)

_ASKS = "The user is asked first and sees exactly what will be sent."


class CommentOnIssue(RepositoryArguments):
    """A comment."""

    number: int = Field(ge=1, description="Number of the issue or pull request.")
    body: str = Field(min_length=1, description="Text of the comment, in Markdown.")


class CreateIssue(RepositoryArguments):
    """A new issue."""

    title: str = Field(min_length=1, max_length=256, description="Title of the issue.")
    body: str | None = Field(None, description="Text of the issue, in Markdown.")
    labels: list[str] = Field(default_factory=list, max_length=20, description="Labels that it gets.")


class RerunWorkflow(RepositoryArguments):
    """Which run to start again."""

    run_id: int = Field(ge=1, description="Id of the workflow run.")
    whole: bool = Field(False, description="All jobs of the run; only the failed ones otherwise.")


def comment(args: CommentOnIssue) -> Change:
    """The change that adds a comment to an issue or a pull request."""
    path = path_of("repos", args.owner, args.repo, "issues", args.number, "comments")
    return Change(f"a comment on #{args.number} of {args.full_name}", path, {"body": args.body})


def issue(args: CreateIssue) -> Change:
    """The change that opens an issue."""
    body: dict[str, str | Sequence[str]] = {"title": args.title}
    body |= {"body": args.body} if args.body else {}
    body |= {"labels": args.labels} if args.labels else {}
    return Change(f"a new issue in {args.full_name}", path_of("repos", args.owner, args.repo, "issues"), body)


def rerun(args: RerunWorkflow) -> Change:
    """The change that starts a workflow run again."""
    last, jobs = ("rerun", "all jobs") if args.whole else ("rerun-failed-jobs", "the failed jobs")
    path = path_of("repos", args.owner, args.repo, "actions", "runs", args.run_id, last)
    what = f"the order to run {jobs} of workflow run {args.run_id} of {args.full_name} again"
    return Change(what, path, linked=False)


@dataclass(frozen=True, slots=True)
class ChangeSpec(Generic[A]):
    """One tool that changes something.

    Attributes:
        name: Name for the model.
        description: What it does, for the model.
        arguments: What it takes.
        change: The change for the arguments.
        examples: Requests that it answers, in users' words.
    """

    name: str
    description: str
    arguments: type[A]
    change: Callable[[A], Change]
    examples: tuple[str, ...]

    def bind(self, sender: Sender) -> BaseTool:
        """The LangChain tool; its result is the JSON of a `Record`."""
        from langchain.tools import ToolRuntime
        from langgraph.types import interrupt

        from utils.a2a_common.graph.tools.plain_tool import PlainTool

        async def call(runtime: Any, **values: Any) -> Result:
            change = self.change(self.arguments.model_validate(values))
            return await sender.run(
                change,
                entry_of(runtime, change),
                interrupt,
                asker_of(runtime),
                begins=lambda: note_effect(self.name, str(runtime.tool_call_id)),
            )

        call.__annotations__["runtime"] = ToolRuntime  # LangGraph injects the runtime by this annotation
        return PlainTool.from_function(
            coroutine=call,
            name=self.name,
            description=self.description,
            args_schema=self.arguments,
            explained=SHARED_ARGUMENTS,
            metadata={
                "examples": list(self.examples),
                repeatable.CHANGES: True,
                REPEATABLE: True,
            },  # by the journal
        )


def entry_of(runtime: Any, change: Change) -> Entry:
    """The journal entry of a tool call; its key is made of the task, the model's answer and the call.

    It does not contain the key of the conversation, which changes when the conversation gets another owner.
    """
    configured, call_id = runtime.config.get("configurable", {}), str(runtime.tool_call_id)
    thread, task = str(configured.get("thread_id", "")), str(configured.get("task_id", ""))
    step = _step(runtime.state["messages"], call_id)
    key, former = (
        hashlib.sha256(f"{whole}\0{step}\0{call_id}".encode()).hexdigest()
        for whole in (f"task {task}", thread)
    )
    return Entry(key, thread, task, change.digest, change.what, former=former)


def asker_of(runtime: Any) -> str:
    """Key of the authorisation of the user for whom a tool runs; empty for an unknown user."""
    from utils.a2a_common.protocol.request import AgentRequest

    if not isinstance(runtime.context, AgentRequest) or not runtime.context.caller.name:
        return ""
    caller = runtime.context.caller
    return owner_key(caller.tenant, person_of(caller.name))


def _step(messages: Sequence[BaseMessage], call_id: str) -> str:
    """Id of the answer that made the call, since call ids alone may repeat."""
    asking = (m for m in reversed(messages) if any(c["id"] == call_id for c in getattr(m, "tool_calls", ())))
    found = next(asking, None)
    return str(found.id or "") if found else ""


COMMENT_ON_ISSUE = ChangeSpec(
    name="comment_on_issue",
    description=f"Add a comment to an issue or a pull request. {_ASKS}",
    arguments=CommentOnIssue,
    change=comment,
    examples=(
        'Comment "Thank you, fixed in 1.2" on issue 5 of octocat/hello-world',
        'Add the comment "Please rebase" to pull request 12 of octo-org/octo-repo',
        'Write "I can reproduce this" under issue #99 in django/django',
        'Reply "Looks good to me" on PR 7 of octocat/hello-world',
        'Post a comment on issue 3 of octo-org/octo-repo saying "Closing as duplicate"',
    ),
)

CREATE_ISSUE = ChangeSpec(
    name="create_issue",
    description=f"Open a new issue in a repository. {_ASKS}",
    arguments=CreateIssue,
    change=issue,
    examples=(
        'Create an issue "Login page is slow" in octocat/hello-world',
        'Open a new issue in octo-org/octo-repo titled "Build fails on Windows"',
        'File a bug "Crash at start" in django/django',
        'Report "Typo in the README" as a new issue of octocat/hello-world',
        'Raise a ticket "Upgrade the base image" in octo-org/octo-repo',
    ),
)

RERUN_WORKFLOW = ChangeSpec(
    name="rerun_workflow",
    description=f"Run a GitHub Actions workflow run again: its failed jobs, or all of it. {_ASKS}",
    arguments=RerunWorkflow,
    change=rerun,
    examples=(
        "Re-run the failed jobs of workflow run 30433642 of octo-org/octo-repo",
        "Rerun workflow run 29679449 in octocat/hello-world",
        "Restart the whole run 30433642 of octo-org/octo-repo",
        "Retry run 123456 of django/django",
        "Start the Actions run 29679449 of octocat/hello-world again",
    ),
)

CHANGES: tuple[ChangeSpec[Any], ...] = (COMMENT_ON_ISSUE, CREATE_ISSUE, RERUN_WORKFLOW)
