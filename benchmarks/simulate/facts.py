"""Facts of a schedule that the invariants are about. Pure data."""

from __future__ import annotations

from dataclasses import dataclass, field

from benchmarks.simulate.view import Seen, Snapshot


@dataclass(slots=True)
class Reading:
    """What one reader of a task read, from its snapshot on.

    Attributes:
        reader: Who read, for the report.
        task: Id of the task; empty until it is known.
        process: Name of the process that served it.
        seen: Events in order.
        ended: Whether the stream came to its end by itself, and neither the reader left nor its server.
        whole: Whether it begins with all of the task. The stream of a follow-up tells the artifacts of earlier turns no more.
    """

    reader: str
    task: str = ""
    process: str = ""
    seen: list[Seen] = field(default_factory=list)
    ended: bool = False
    whole: bool = True


@dataclass(slots=True)
class Run:
    """One execution of a turn by an agent.

    Attributes:
        message: Id of the message that the turn is about.
        task: Id of the task.
        process: Name of the process.
        outcome: What stopped it: "" while it runs, "returned", "raised", "cancelled".
    """

    message: str
    task: str
    process: str
    outcome: str = ""


@dataclass(frozen=True, slots=True)
class Stored:
    """A task as it is stored at the end.

    Attributes:
        task: Its id.
        snapshot: State, texts, and the code of its failure.
        events: What was appended to it, in order, as far as it is still stored.
        messages: Ids of the user's messages in its history, in order.
    """

    task: str
    snapshot: Snapshot
    events: tuple[Seen, ...] = ()
    messages: tuple[str, ...] = ()


@dataclass(slots=True)
class Request:
    """A message that a client sent, once or several times.

    Attributes:
        message: Its id.
        tasks: Ids of the tasks that answers named, in the order of the answers.
        accepted: Whether any answer named a task, or said the answer.
        artifacts: The artifacts that a whole answer to it has, by id.
        hook: Id of the webhook that it brings; empty for none.
        follows: Whether it continues a task.
        again: Whether it had to be sent again, since no answer came or an error.
    """

    message: str
    tasks: list[str] = field(default_factory=list)
    accepted: bool = False
    artifacts: tuple[tuple[str, str], ...] = ()
    hook: str = ""
    follows: bool = False
    again: bool = False


@dataclass(frozen=True, slots=True)
class Heard:
    """A notification: the process that sent it, and its event."""

    process: str
    event: Seen


@dataclass(slots=True)
class Hook:
    """A webhook of one task.

    Attributes:
        name: Its id.
        task: The task.
        owed: Whether it must hear the end of the task: an answer said that it is stored, and the end came later.
        stored: Whether a process holds it, as far as the processes tell.
        whole: Whether it follows the task from its first event.
        overtaken: Whether a process that had stalled stored or deleted it after the next one had read all of them, which
            the lock of the folder keeps from happening.
        heard: Notifications that it took, in order.
    """

    name: str
    task: str
    owed: bool = False
    stored: bool = False
    whole: bool = False
    overtaken: bool = False
    heard: list[Heard] = field(default_factory=list)


@dataclass(slots=True)
class ToolRun:
    """One run of a tool.

    Attributes:
        task: Id of the task.
        call: Id of the call, which names its message.
        process: Name of the process.
        read_only: Whether it may run again where it did not end.
        known: Whether the outcome of the same call was stored when it began.
    """

    task: str
    call: str
    process: str
    read_only: bool
    known: bool = False


@dataclass(slots=True)
class Facts:
    """All of them.

    Attributes:
        left_runs: Ids of tasks whose run is still to be done.
        unhandled: Errors that nobody handled.
        lost_processes: Names of those that died, stalled or were stopped: their turns may run again elsewhere.
        handed_over: Names of processes that live, and whose turns may run elsewhere or once more: they gave no sign of life
            for too long, or a worker of theirs lost the database.
        spared: Names of those among the lost that were not killed: they were asked to stop, or went on again.
        unstored: Names of those that had a write fail.
        taken_over: Names of processes and ids of tasks whose end the process could not store before another process
            claimed the task.
    """

    stored: list[Stored] = field(default_factory=list)
    readings: list[Reading] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    hooks: list[Hook] = field(default_factory=list)
    tool_runs: list[ToolRun] = field(default_factory=list)
    left_runs: list[str] = field(default_factory=list)
    unhandled: list[str] = field(default_factory=list)
    lost_processes: set[str] = field(default_factory=set)
    handed_over: set[str] = field(default_factory=set)
    spared: set[str] = field(default_factory=set)
    unstored: set[str] = field(default_factory=set)
    taken_over: set[tuple[str, str]] = field(default_factory=set)
