"""Logs of a job: where it failed, and its last lines."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

from pydantic import Field

from agents.github.client import GitHubClient, Row, path_of
from agents.github.paging import read_list
from agents.github.tools.arguments import RepositoryArguments
from agents.github.tools.joblog import JobLog, window_of
from agents.github.tools.project import rows_of, text
from agents.github.tools.spec import ToolSpec
from agents.github.tools.workflows import is_failed, read_jobs
from utils.errors import UpstreamRefused
from utils.messages.results import Record

_MAX_BYTES = 64_000_000
"""Bytes read of a log; a longer one is truncated, and the result says so."""
_TAIL, _SHORT_TAIL = 40, 10
"""Last lines shown, without and with the lines around an error."""


class GetJobLogs(RepositoryArguments):
    """Which log to read."""

    job_id: int | None = Field(None, ge=1, description="Id of the job.")
    run_id: int | None = Field(
        None,
        ge=1,
        description="For its failed job; the latest failed run when omitted.",
    )
    branch: str | None = Field(None, description="Without a run_id: whose latest failed run is meant.")
    limit: int | None = Field(None, ge=1, le=500, description="Lines from the end of the log.")


async def get_job_logs(github: GitHubClient, args: GetJobLogs) -> Record:
    """The failing step, the lines around its error, and the log's tail.

    For a run, the failed job and its step are named even if GitHub refuses the log.
    """
    job, note = await _find_job(github, args)
    failed = next((step for step in rows_of(job.get("steps")) if is_failed(step)), None)
    window = window_of(failed.get("started_at"), failed.get("completed_at")) if failed else None
    log = JobLog(args.limit or _TAIL, window)
    try:
        if await _read(github, args, job, log) >= _MAX_BYTES:
            note = f"The log is longer than what was read; its end is missing. {note}".strip()
    except UpstreamRefused as refused:
        if args.job_id is not None or failed is None:
            raise
        note = f"{refused.message} {note}".strip()
    tail = list(log.tail) if args.limit or not log.excerpt else list(log.tail)[-_SHORT_TAIL:]
    item = {
        "job": text(job.get("name")),
        "workflow": text(job.get("workflow_name")),
        "branch": text(job.get("head_branch")),
        "job_id": job.get("id"),
        "run_id": job.get("run_id"),
        "status": text(job.get("conclusion")) or text(job.get("status")),
        "failed_step": text(failed.get("name")) if failed else None,
        "errors": log.errors,
        "error_excerpt": "\n".join(log.excerpt),
        "log_lines": log.lines or None,
        "tail": "\n".join(tail),
    }
    return Record(kind="job log", item=item, note=note or None, source=text(job.get("html_url")))


async def _read(github: GitHubClient, args: GetJobLogs, job: Row, log: JobLog) -> int:
    what = f"the log of job {job.get('id')} of {args.full_name}"
    path = path_of("repos", args.owner, args.repo, "actions", "jobs", str(job.get("id")), "logs")
    size = 0
    async with aclosing(github.lines(path, what, {}, max_bytes=_MAX_BYTES)) as lines:
        async for line in lines:
            size += len(line) + 1
            log.add(line)
    return size


async def _find_job(github: GitHubClient, args: GetJobLogs) -> tuple[Row, str]:
    """Find the requested job; also return a remark on which one it is."""
    if args.job_id is not None:
        path = path_of("repos", args.owner, args.repo, "actions", "jobs", args.job_id)
        return await github.get_row(path, f"job {args.job_id} of {args.full_name}"), ""
    run_id, note = (args.run_id, "") if args.run_id is not None else await _latest_failed_run(github, args)
    jobs = await read_jobs(github, args, run_id)
    if not jobs:
        raise UpstreamRefused(f"Workflow run {run_id} of {args.full_name} has no jobs yet.")
    return next((job for job in jobs if is_failed(job)), jobs[0]), note


async def _latest_failed_run(github: GitHubClient, args: GetJobLogs) -> tuple[int, str]:
    """The latest failed run, and a remark if a later one did not fail."""
    failed, latest = await asyncio.gather(
        _newest(github, args, "failure"), _newest(github, args, "completed")
    )
    where = f"{args.full_name} on {args.branch}" if args.branch else args.full_name
    found = failed.get("id") if failed else None
    if failed is None or not isinstance(found, int):
        ended = (
            f" Its latest run, {latest.get('id')}, ended with {latest.get('conclusion')}." if latest else ""
        )
        raise UpstreamRefused(f"{where} has no failed workflow run.{ended}")
    if latest is None or is_failed(latest) or latest.get("id") == found:
        return found, ""
    said = f"The latest run of {where}, {latest.get('id')}, ended with {latest.get('conclusion')}"
    return found, f"{said}; this is the latest one that failed."


async def _newest(github: GitHubClient, args: GetJobLogs, status: str) -> Row | None:
    listing = await read_list(
        github,
        path_of("repos", args.owner, args.repo, "actions", "runs"),
        f"the workflow runs of {args.full_name}",
        {"status": status, "branch": args.branch},
        limit=1,
        key="workflow_runs",
    )
    return listing.rows[0] if listing.rows else None


GET_JOB_LOGS = ToolSpec(
    name="get_job_logs",
    description="Read a job's log: failing step, lines around the error, end. By job, run, or the latest failed run. Needs a token.",
    arguments=GetJobLogs,
    run=get_job_logs,
    examples=(
        "Why did the last build of octo-org/octo-repo fail?",
        "Why did the last run on main of octocat/hello-world fail?",
        "Why did run 30433642 of octo-org/octo-repo fail?",
        "Why did the latest workflow run of octocat/hello-world fail?",
        "What broke the last build of django/django, and in which job and step?",
        "Show the logs of job 399444496 in octo-org/octo-repo",
        "What went wrong in workflow run 29679449 of octo-org/octo-repo?",
        "Get the error from the failed GitHub Actions run of django/django",
        "Tail the log of job 399444496 of octo-org/octo-repo",
        "Why did workflow run 30433642 of octo-org/octo-repo fail?",
        "Print the log output of workflow run 29679449 of octocat/hello-world",
        "With which error did workflow run 123456 of django/django stop?",
    ),
)
