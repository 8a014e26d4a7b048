"""What holds in every schedule: each function names what does not. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from benchmarks.simulate.facts import Facts, Reading, Run, Stored
from benchmarks.simulate.house_script import RESPONSE
from benchmarks.simulate.view import SETTLED, TERMINAL, Gap, Said, Seen, Snapshot, Status, View, follow

MAX_ATTEMPTS = 3
"""The first run of a turn and two take-overs."""


def one_end(facts: Facts) -> Iterator[str]:
    """A task has one terminal status and nothing after it: in the store, and for every reader."""
    for stored in facts.stored:
        for fault in _after_end(stored.events):
            yield f"task {stored.task} as stored: {fault}"
    for reading in facts.readings:
        for fault in _after_end(reading.seen):
            yield f"{reading.reader} of task {reading.task}: {fault}"


def _after_end(events: list[Seen] | tuple[Seen, ...]) -> Iterator[str]:
    ended: Seen | None = None
    for event in events:
        if ended is not None:
            yield f"{event} came after the end {ended}"
            return
        if isinstance(event, Status | Snapshot) and event.state in TERMINAL:
            ended = event


def readers_agree(facts: Facts) -> Iterator[str]:
    """What a reader read, applied in order, is what is stored; at each moment it is a beginning of the whole answer."""
    stored = {each.task: each for each in facts.stored}
    for reading in facts.readings:
        if _told_too_early(reading, facts):
            continue
        for fault in _disagrees(reading, stored.get(reading.task), _whole(facts, reading.task)):
            yield f"{reading.reader} of task {reading.task}: {fault}"


def _whole(facts: Facts, task: str) -> dict[str, str]:
    """The artifacts of a whole answer, as far as it is known that they belong to the task or to one task alone."""
    return {
        artifact: text
        for request in facts.requests
        for artifact, text in request.artifacts
        if artifact != RESPONSE or task in request.tasks
    }


def _told_too_early(reading: Reading, facts: Facts) -> bool:
    """Whether a process told of a failure while the storage was down, and was lost or fenced off before it could store it."""
    last = reading.seen[-1] if reading.seen else None
    cut_short = isinstance(last, Status | Snapshot) and last.state in TERMINAL - {"completed"}
    lost = reading.process in (facts.lost_processes | facts.handed_over) & facts.unstored
    return cut_short and (lost or (reading.process, reading.task) in facts.taken_over)


def _disagrees(reading: Reading, stored: Stored | None, whole: dict[str, str]) -> Iterator[str]:
    last: View | None = None
    try:
        for view in follow(reading.seen):
            last = view
            for artifact, text in view.texts.items():
                if artifact in whole and not whole[artifact].startswith(text):
                    yield f"artifact {artifact} reads {text!r}, not a beginning of {whole[artifact]!r}"
                    return
    except Gap as gap:
        yield str(gap)
        return
    if last is None or last.state == "said" or not reading.ended:
        return
    if stored is None:
        yield "read to its end, and not stored"
    elif last.state in TERMINAL and not _same(last.snapshot(), _seen_part(stored.snapshot, last, reading)):
        yield f"read {last.snapshot()}, stored is {stored.snapshot}"


def _seen_part(stored: Snapshot, last: View, reading: Reading) -> Snapshot:
    """What is stored, as far as a reader that did not begin with the task can know."""
    if reading.whole:
        return stored
    return Snapshot(stored.state, tuple(each for each in stored.texts if each[0] in last.texts), stored.code)


def _same(read: Snapshot, stored: Snapshot) -> bool:
    """Whether they are the same; a task that was cut short may lack the last pieces that could not be stored."""
    if read.state == "completed":
        return read == stored
    texts = dict(read.texts)
    return (read.state, read.code) == (stored.state, stored.code) and all(
        _one_begins_the_other(texts.get(artifact, ""), text) for artifact, text in stored.texts
    )


def stored_is_whole(facts: Facts) -> Iterator[str]:
    """The stored events make the stored task; a completed task has every piece of its answer, and no task has others."""
    wanted = {request.message: dict(request.artifacts) for request in facts.requests}
    for stored in facts.stored:
        whole = _whole(facts, stored.task)
        texts = dict(stored.snapshot.texts)
        for artifact, text in texts.items():
            if artifact in whole and not whole[artifact].startswith(text):
                yield f"task {stored.task}: artifact {artifact} is {text!r}, not a beginning of {whole[artifact]!r}"
        if stored.snapshot.state == "completed":
            for message in stored.messages:
                for artifact, text in wanted.get(message, {}).items():
                    if texts.get(artifact, "") != text:
                        found = texts.get(artifact, "")
                        yield f"task {stored.task} is completed: artifact {artifact} is {found!r}, not {text!r}"


def accepted_ends(facts: Facts) -> Iterator[str]:
    """Once faults have stopped, every task is terminal or waits for its user, and no turn is left over."""
    known = set()
    for stored in facts.stored:
        known.add(stored.task)
        if stored.snapshot.state not in SETTLED:
            yield f"task {stored.task} is still {stored.snapshot.state}"
    for request in facts.requests:
        for task in request.tasks:
            if request.accepted and task not in known:
                yield f"message {request.message} was accepted as task {task}, which is not stored"
    for left in facts.left_runs:
        yield f"the run of task {left} is left over"


def runs_once(facts: Facts) -> Iterator[str]:
    """A message, however often it is sent, is one task, unless that failed retryably; a process runs it once."""
    retried = {each.task for each in facts.stored if each.snapshot.state == "failed"}
    for request in facts.requests:
        tasks = list(dict.fromkeys(request.tasks))
        for task in tasks[:-1]:
            if task not in retried:
                yield f"message {request.message} is the tasks {', '.join(tasks)}, and {task} did not fail"
    runs = Counter((run.message, run.task, run.process) for run in facts.runs)
    for (message, task, process), number in runs.items():
        beside = {each for known, of, each in runs if (known, of) == (message, task)} - {process}
        if number > 1 and not beside | (
            {process} & facts.handed_over
        ):  # else it was taken away, and came back
            yield f"message {message} of task {task} ran {number} times in {process}"
    for message, task in {(run.message, run.task): None for run in facts.runs}:
        lost = [run for run in facts.runs if (run.message, run.task) == (message, task)]
        kept = [run for run in lost if not _lost_turn(run, facts)]
        if len(kept) > 1:
            yield f"message {message} of task {task} ran in {', '.join(run.process for run in lost)}"
        if sum(run.process not in facts.spared | facts.handed_over for run in lost) > MAX_ATTEMPTS:
            yield f"message {message} of task {task} ran {len(lost)} times"


def _lost_turn(run: Run, facts: Facts) -> bool:
    """Whether a turn may go on elsewhere: its process was lost, or could not store its end."""
    away = facts.lost_processes | facts.handed_over
    return run.process in away or (run.process, run.task) in facts.taken_over


def webhooks_hear_ends(facts: Facts) -> Iterator[str]:
    """A webhook is sent the events of its task in order, and every end and question at least once."""
    stored = {each.task: each for each in facts.stored}
    for hook in facts.hooks:
        task = stored.get(hook.task)
        if task is None:
            continue
        heard = [each.event for each in hook.heard]
        owed = hook.owed and not hook.overtaken
        if owed and task.snapshot.state in TERMINAL and task.snapshot.state not in map(_state, heard):
            yield f"webhook {hook.name} did not hear that task {task.task} is {task.snapshot.state}"
        for event in task.events if owed and hook.whole else ():
            if _state(event) in SETTLED and event not in heard:
                yield f"webhook {hook.name} did not hear {event} of task {task.task}"
        for process in {each.process: None for each in hook.heard}:
            if process in facts.unstored | facts.lost_processes | facts.handed_over:
                continue  # what it told need not be stored
            sent = [each.event for each in hook.heard if each.process == process]
            # an answer without a task is deleted where its message comes again, and may begin a task then
            sent = [event for event in sent if not isinstance(event, Said) or event in task.events]
            yield from (f"webhook {hook.name}: {fault}" for fault in _out_of_order(sent, task.events))


def _state(event: Seen) -> str:
    return event.state if isinstance(event, Status | Snapshot) else ""


def _out_of_order(sent: list[Seen], events: tuple[Seen, ...]) -> Iterator[str]:
    """What was sent by one process, where it is not a part of what is stored; a try that was not confirmed is repeated."""
    place = 0
    for event in sent:
        while place < len(events) and events[place] != event:
            place += 1
        if place == len(events):
            yield f"{event} was sent out of order"
            return


def tools_run_once(facts: Facts) -> Iterator[str]:
    """A call of a tool runs once; that of a read-only tool again only where its outcome is not stored."""
    begun: set[tuple[str, str]] = set()
    for run in facts.tool_runs:
        if run.known:
            yield f"call {run.call} of task {run.task} ran in {run.process} although its outcome was stored"
        elif (run.task, run.call) in begun and not run.read_only:
            yield f"call {run.call} of task {run.task} ran again, in {run.process}"
        begun.add((run.task, run.call))


def history_is_once(facts: Facts) -> Iterator[str]:
    """Each message of the user is in the history of its task once."""
    for stored in facts.stored:
        for message, number in Counter(stored.messages).items():
            if number > 1:
                yield f"task {stored.task} has message {message} {number} times in its history"


def nothing_unhandled(facts: Facts) -> Iterator[str]:
    """No task of the loop fails unheard."""
    for text in facts.unhandled:
        yield f"nobody handled: {text}"


INVARIANTS: tuple[Callable[[Facts], Iterator[str]], ...] = (
    one_end,
    readers_agree,
    stored_is_whole,
    accepted_ends,
    runs_once,
    webhooks_hear_ends,
    tools_run_once,
    history_is_once,
    nothing_unhandled,
)


def violations(facts: Facts) -> list[str]:
    """Everything that does not hold."""
    return [f"{each.__name__}: {text}" for each in INVARIANTS for text in each(facts)]


def _one_begins_the_other(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)
