"""The tables of a queue in memory. Each function is one statement of Procrastinate's, under the name that it has there."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from procrastinate import exceptions
from procrastinate.manager import QUEUEING_LOCK_CONSTRAINT
from procrastinate.types import JobToDefer
from psycopg.errors import ForeignKeyViolation

from benchmarks.simulate.notices import Notices
from utils.a2a_common.engine.load import ConversationLoad
from utils.a2a_common.engine.queue_tables import Counts
from utils.a2a_common.engine.resilient_jobs import CHANNEL

JobRow = dict[str, Any]
Rows = list[dict[str, Any]]

UNFINISHED = ("todo", "doing")


@dataclass(slots=True)
class Worker:
    """A worker: the process that it belongs to, and its last sign of life."""

    process: str
    seen: float


class QueueTable:
    """Jobs and workers, as PostgreSQL keeps them.

    Args:
        clock: Seconds.
        notices: Where workers hear of new jobs.
        taken_for_dead: Told the process of each job whose worker gave no sign of life for too long.

    Attributes:
        jobs: The jobs, by id.
        workers: The workers, by id.
    """

    def __init__(
        self, clock: Callable[[], float], notices: Notices, taken_for_dead: Callable[[str], object]
    ) -> None:
        self._clock = clock
        self._notices = notices
        self._taken_for_dead = taken_for_dead
        self._ids = 0
        self._worker_ids = 0
        self._processes: dict[int, str] = {}
        self.jobs: dict[int, JobRow] = {}
        self.workers: dict[int, Worker] = {}

    # jobs

    def next_id(self) -> int:
        """The id of a new job. A number that is not used is lost, as those of a sequence are."""
        self._ids += 1
        return self._ids

    def row_of(self, job: JobToDefer) -> JobRow:
        """A new job, which is not in the table yet."""
        return {
            "id": self.next_id(),
            "queue_name": job.queue_name,
            "task_name": job.task_name,
            "priority": job.priority,
            "lock": job.lock,
            "queueing_lock": job.queueing_lock,
            "args": job.args,
            "status": "todo",
            "scheduled_at": job.scheduled_at,
            "attempts": 0,
            "abort_requested": False,
            "worker_id": None,
        }

    def check_unique(self, row: JobRow) -> None:
        """One waiting job for each task.

        Raises:
            UniqueViolation: There is one.
        """
        lock = row["queueing_lock"]
        if any(job["status"] == "todo" and job["queueing_lock"] == lock for job in self.jobs.values()):
            raise exceptions.UniqueViolation(constraint_name=QUEUEING_LOCK_CONSTRAINT, queueing_lock=lock)

    def insert(self, rows: Iterable[JobRow]) -> None:
        """Add jobs, and tell the workers."""
        for row in rows:
            self.jobs[row["id"]] = row
            self._tell(row, "job_inserted")

    def defer_jobs(self, jobs: list[JobToDefer]) -> Rows:
        """Add jobs."""
        rows = [self.row_of(job) for job in jobs]
        for row in rows:
            self.check_unique(row)
        self.insert(rows)
        return [dict(row) for row in rows]

    def fetch_job(self, queues: list[str], worker_id: int) -> Rows:
        """The next job, which is now the worker's. One without an id means none."""
        free = [job for job in self.jobs.values() if job["queue_name"] in queues and self._is_next(job)]
        if not free:
            return [{"id": None}]
        return self._give(min(free, key=_place), worker_id)

    def take_job(self, jobs: list[int], worker_id: int) -> Rows:
        """The first of some jobs that is the next of its conversation; it is now the worker's."""
        free = [
            self.jobs[number] for number in jobs if number in self.jobs and self._is_next(self.jobs[number])
        ]
        return self._give(free[0], worker_id) if free else []

    def _give(self, job: JobRow, worker_id: int) -> Rows:
        if worker_id not in self.workers:
            raise exceptions.ConnectorException from ForeignKeyViolation("the worker is not in the table")
        job["status"], job["worker_id"] = "doing", worker_id
        return [dict(job)]

    def _is_next(self, job: JobRow) -> bool:
        """Whether a job waits, and for no other one of its conversation."""
        if job["status"] != "todo":
            return False
        place = _place(job)
        return not any(
            other["lock"] == job["lock"]
            and (other["status"] == "doing" or (other["status"] == "todo" and _place(other) < place))
            for other in self.jobs.values()
        )

    def finish_job(self, job_id: int, status: str, delete_job: bool) -> Rows:
        """End a job."""
        job = self._found(job_id, UNFINISHED)
        if delete_job:
            del self.jobs[job_id]
        else:
            job["attempts"] += job["status"] == "doing"
            job["status"], job["abort_requested"] = status, False
        return []

    def retry_job(self, job_id: int, new_priority: int | None = None, **_others: Any) -> Rows:
        """Let a job wait again; one whose end was asked for is over."""
        job = self._found(job_id, ("doing", "failed"))
        if job["status"] == "doing" and job["abort_requested"]:
            job["status"] = "failed"
            return []
        job["status"], job["attempts"] = "todo", job["attempts"] + 1
        if new_priority is not None:
            job["priority"] = new_priority
        return []

    def _found(self, job_id: int, statuses: Iterable[str]) -> JobRow:
        job = self.jobs.get(job_id)
        if job is None or job["status"] not in statuses:
            raise exceptions.ConnectorException(f"job {job_id} was not found or has another status")
        return job

    def cancel_job(self, job_id: int, abort: bool, delete_job: bool) -> Rows:
        """End a job that waits; ask for the end of one that runs."""
        job = self.jobs.get(job_id)
        if job is None or job["status"] not in (UNFINISHED if abort else ("todo",)):
            return [{"id": None}]
        if job["status"] == "todo":
            if delete_job:
                del self.jobs[job_id]
            else:
                job["status"], job["abort_requested"] = "cancelled", abort
        else:
            job["abort_requested"] = True
            self._tell(job, "abort_job_requested")
        return [{"id": job_id}]

    def list_jobs(self, **wanted: Any) -> Rows:
        """Jobs with certain values, oldest first."""
        return [
            dict(job)
            for job in self.jobs.values()
            if all(value is None or job[name] == value for name, value in wanted.items())
        ]

    def _unfinished(self, **wanted: Any) -> Rows:
        return [job for job in self.list_jobs(**wanted) if job["status"] in UNFINISHED]

    def waiting(self, queue: str) -> Rows:
        """How many jobs no worker runs."""
        return [{"waiting": len(self.list_jobs(queue_name=queue, status="todo"))}]

    def tasks(self, queue: str) -> Rows:
        """The tasks of the unfinished jobs."""
        return [{"task_id": job["args"]["task_id"]} for job in self._unfinished(queue_name=queue)]

    def of_task(self, queue: str, task: str) -> Rows:
        """The oldest unfinished job of a task."""
        return self._unfinished(queue_name=queue, queueing_lock=task)[:1]

    def of_lock(self, queue: str, lock: str) -> Rows:
        """Whether a lock has an unfinished job."""
        return [{"busy": bool(self._unfinished(queue_name=queue, lock=lock))}]

    def list_jobs_to_abort(self, queue_name: str | None) -> Rows:
        """Running jobs whose end was asked for."""
        return self.list_jobs(status="doing", abort_requested=True, queue_name=queue_name)

    def select_stalled_jobs_by_heartbeat(
        self, queue: str | None, task_name: str | None, seconds_since_heartbeat: float
    ) -> Rows:
        """Running jobs whose worker is gone, or gave no sign of life for too long. They lack some columns."""
        alive = self._alive(seconds_since_heartbeat)
        found = []
        for job in self.list_jobs(status="doing", queue_name=queue, task_name=task_name):
            if job["worker_id"] not in alive:
                self._taken_for_dead(self._processes.get(job["id"], ""))
                del job["abort_requested"]
                found.append(job)
        return found

    def delete_old_jobs(self, statuses: Iterable[str], **_others: Any) -> Rows:
        """Delete ended jobs."""
        for job_id in [job["id"] for job in self.jobs.values() if job["status"] in statuses]:
            del self.jobs[job_id]
        return []

    # workers

    def register_worker(self, process: str) -> Rows:
        """A new worker."""
        self._worker_ids += 1
        self.workers[self._worker_ids] = Worker(process, self._clock())
        return [{"worker_id": self._worker_ids}]

    def note_fetched(self, job_id: int, process: str) -> None:
        """Remember which process fetched a job."""
        self._processes[job_id] = process

    def unregister_worker(self, worker_id: int) -> Rows:
        """Remove a worker; its jobs are nobody's then."""
        self.workers.pop(worker_id, None)
        self._disown()
        return []

    def update_heartbeat(self, worker_id: int) -> Rows:
        """A sign of life; one that was removed stays so."""
        if worker_id in self.workers:
            self.workers[worker_id].seen = self._clock()
        return []

    def prune_stalled_workers(self, seconds_since_heartbeat: float) -> Rows:
        """Remove workers that gave no sign of life for too long."""
        alive = self._alive(seconds_since_heartbeat)
        gone = [number for number in self.workers if number not in alive]
        for number in gone:
            del self.workers[number]
        self._disown()
        return [{"worker_id": number} for number in gone]

    def _disown(self) -> None:
        for job in self.jobs.values():
            if job["worker_id"] not in self.workers:
                job["worker_id"] = None

    def _alive(self, seconds: float) -> set[int]:
        until = self._clock() - seconds
        return {number for number, worker in self.workers.items() if worker.seen >= until}

    def counts(self, queue: str, task_id: str, alive: float) -> Counts:
        """The unfinished jobs of a queue."""
        jobs = [job for job in self.list_jobs(queue_name=queue) if job["status"] in UNFINISHED]
        of: dict[str, Rows] = {}
        for job in jobs:
            of.setdefault(job["lock"], []).append(job)
        return Counts(
            len(self._alive(alive)),
            any(job["queueing_lock"] == task_id for job in jobs),
            [_standing(conversation, found) for conversation, found in of.items()],
        )

    def _tell(self, job: JobRow, kind: str) -> None:
        payload = json.dumps({"type": kind, "job_id": job["id"]})
        self._notices.tell(CHANNEL + job["queue_name"], payload)


def _place(job: JobRow) -> tuple[int, int]:
    """Where a job stands in the line, the least first."""
    return -job["priority"], job["id"]


def _standing(conversation: str, jobs: Rows) -> ConversationLoad:
    waiting = [job for job in jobs if job["status"] == "todo"]
    running = len(jobs) - len(waiting)
    if not waiting:
        return ConversationLoad(conversation, running, 0)
    first = min(waiting, key=_place)
    return ConversationLoad(conversation, running, len(waiting), first["id"], first["priority"])
