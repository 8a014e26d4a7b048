"""Workflow runs of GitHub Actions."""

from __future__ import annotations

import asyncio
from typing import Literal

from pydantic import Field

from agents.github.client import GitHubClient, Row, path_of
from agents.github.paging import read_list
from agents.github.tools.arguments import Linked, Paged, RepositoryArguments, Within
from agents.github.tools.listing import list_of_repository
from agents.github.tools.project import field, login, one_line, rows_of, text
from agents.github.tools.spec import ToolSpec
from utils.messages.results import Items, Record

FAILED = frozenset({"failure", "timed_out", "startup_failure"})
"""Conclusions that count as failed."""
_JOBS = 100


class ListWorkflowRuns(RepositoryArguments, Linked, Paged, Within):
    """Which runs to list."""

    status: (
        Literal["success", "failure", "cancelled", "in_progress", "queued", "completed", "timed_out"] | None
    ) = Field(None, description="Their state.")
    branch: str | None = Field(None, description="Only runs for this branch.")
    event: str | None = Field(None, description="What started them: push, schedule…")


class GetWorkflowRun(RepositoryArguments):
    """Which run to read."""

    run_id: int = Field(ge=1, description="Id of the run.")


async def list_workflow_runs(github: GitHubClient, args: ListWorkflowRuns) -> Items:
    """List one page, the newest first."""
    created = f"{args.since or '*'}..{args.until or '*'}" if args.since or args.until else None
    params = {"status": args.status, "branch": args.branch, "event": args.event, "created": created}
    return await list_of_repository(
        github, args, "workflow runs", "actions/runs", row=_row, params=params, key="workflow_runs"
    )


async def get_workflow_run(github: GitHubClient, args: GetWorkflowRun) -> Record:
    """One run and its jobs, read at the same time."""
    what = f"workflow run {args.run_id} of {args.full_name}"
    path = path_of("repos", args.owner, args.repo, "actions", "runs", args.run_id)
    raw, jobs = await asyncio.gather(github.get_row(path, what), read_jobs(github, args, args.run_id))
    item = _row(raw) | {
        "attempt": raw.get("run_attempt"),
        "commit": one_line(field(raw, "head_commit", "message"), 160),
        "jobs": [_job(job) for job in jobs],
        "failed_jobs": [f"{job.get('name')} (job_id {job.get('id')})" for job in jobs if is_failed(job)],
    }
    return Record(kind="workflow run", item=item, source=text(raw.get("html_url")))


async def read_jobs(github: GitHubClient, args: RepositoryArguments, run_id: int) -> list[Row]:
    """The jobs of a run's latest attempt."""
    path = path_of("repos", args.owner, args.repo, "actions", "runs", run_id, "jobs")
    what = f"the jobs of workflow run {run_id} of {args.full_name}"
    listing = await read_list(github, path, what, {"filter": "latest"}, limit=_JOBS, key="jobs")
    return listing.rows


def is_failed(raw: Row) -> bool:
    """Whether a job or step failed."""
    return raw.get("conclusion") in FAILED


def _row(raw: Row) -> Row:
    return {
        "id": raw.get("id"),
        "workflow": text(raw.get("name")),
        "title": one_line(raw.get("display_title"), 120),
        "number": raw.get("run_number"),
        "status": text(raw.get("conclusion")) or text(raw.get("status")),
        "branch": text(raw.get("head_branch")),
        "event": text(raw.get("event")),
        "actor": login(raw.get("actor")),
        "started": text(raw.get("run_started_at")) or text(raw.get("created_at")),
    }


def _job(raw: Row) -> str:
    state = text(raw.get("conclusion")) or text(raw.get("status")) or "unknown"
    steps = [str(step.get("name")) for step in rows_of(raw.get("steps")) if is_failed(step)]
    failed = f", failed step: {', '.join(steps)}" if steps else ""
    return f"{raw.get('name')}: {state} (job_id {raw.get('id')}{failed})"


LIST_WORKFLOW_RUNS = ToolSpec(
    name="list_workflow_runs",
    description="List the workflow runs of a repository, by status, branch, event or date.",
    arguments=ListWorkflowRuns,
    run=list_workflow_runs,
    examples=(
        "Show the latest workflow runs of octo-org/octo-repo",
        "Which CI runs failed in octocat/hello-world?",
        "Has octo-org/octo-repo had a failing run?",
        "Is the build of octo-org/octo-repo green on main?",
        "List the GitHub Actions runs of django/django",
        "Did the last build of octocat/hello-world pass?",
        "Are there any failing runs on main of octo-org/octo-repo?",
        "Are any pipelines in progress in octo-org/octo-repo?",
        "Which builds of octocat/hello-world were cancelled?",
        "Is CI running for octo-org/octo-repo right now?",
        "When did the pipeline of django/django last succeed?",
    ),
)

GET_WORKFLOW_RUN = ToolSpec(
    name="get_workflow_run",
    description="Read one workflow run by its id: jobs and failed steps.",
    arguments=GetWorkflowRun,
    run=get_workflow_run,
    examples=(
        "Show workflow run 30433642 of octo-org/octo-repo",
        "Which jobs failed in run 30433642 of octo-org/octo-repo?",
        "What is the status of Actions run 29679449 in octocat/hello-world?",
        "List the jobs of run 29679449 of octo-org/octo-repo",
        "Which job and which step of the last build of octocat/hello-world failed?",
        "Did workflow run 123456 of django/django pass?",
        "How long did run 29679449 of octo-org/octo-repo take?",
    ),
)
