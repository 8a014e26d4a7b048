"""`chat --ask`: one question, one answer on standard output, one exit code."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from uuid import uuid4

from multi_agents.cli.chat.conversations import known_conversation
from multi_agents.cli.chat.downloads import Downloads, FileResult
from multi_agents.cli.chat.drive import TurnResult, drive
from multi_agents.cli.chat.sender_secret import secret_for
from multi_agents.cli.console import clean, err, out, print_json, say
from multi_agents.cli.exit_codes import ExitCode
from multi_agents.cli.peer.connection import Peer
from multi_agents.cli.view.sinks import JsonSink, LineSink, LiveSink, SilentSink, Sink
from multi_agents.cli.view.state import TurnView
from utils.a2a_common.client.stream.follow import follow_message
from utils.a2a_common.client.stream.message import user_message
from utils.events import DelegationState


async def ask(
    peer: Peer,
    text: str,
    *,
    downloads: Downloads,
    context_id: str = "",
    as_json: bool = False,
    quiet: bool = False,
    patience: float | None = None,
) -> ExitCode:
    """Send `text`, show the progress, print the answer, save its files and tell how it ended.

    In a conversation where a task waits, the text is its answer, or another request: see `Chat.turn`. An agent that says
    nothing for `patience` seconds is not waited for any longer.

    Raises:
        CliError: The agent refused, was lost or said nothing.
    """
    waiting = ""
    if context_id and not peer.connection.matches_answers:
        known = await known_conversation(peer, context_id)
        waiting = known.waiting_task if known else ""
    context_id = context_id or str(uuid4())
    message = user_message(text, context_id=context_id, task_id=waiting, secret=secret_for(peer, context_id))
    events = follow_message(peer.connection, message)
    sink = sink_for(as_json=as_json, quiet=quiet)
    result = await drive(peer, events, sink, task_id=waiting, patience=patience)
    files = await downloads.save(result.view.task)
    if as_json:
        print_json(summary(result, files))
    else:
        print_result(result)
        say_files(files)
        if result.view.notice and not quiet:
            say(result.view.notice)
        if result.view.waits and not quiet:
            command = peer.command("chat", "--context", result.view.task.context_id)
            say(f'To answer: {command} --ask "…"', to_copy=True)
    return result.exit_code


def sink_for(*, as_json: bool, quiet: bool = False) -> Sink:
    """The sink that fits the destination of standard error."""
    if as_json:
        return JsonSink()
    if quiet:
        return SilentSink()
    return LiveSink() if err().is_terminal else LineSink()


def print_result(result: TurnResult, answer: str | None = None) -> None:
    """The answer to standard output; a failure, a question or a cancellation to standard error.

    `answer` is what is shown of it, where that is not the whole.
    """
    view = result.view
    if view.answer:
        print_answer(view.answer if answer is None else answer)
    if view.failure:
        say(failure_line(view))
    elif view.waits:
        say(view.question)
    elif result.interrupted:
        say(_stopped(view))
    elif view.state is DelegationState.CANCELED:
        say(_with_unknown("The task was canceled.", view))
    elif view.shortcoming:
        say(reason_line("Incomplete", view.shortcoming.message, view))
    elif view.works:
        say("The task has not ended yet.")
    elif not view.answer:
        say("The agent ended without an answer.")


def _stopped(view: TurnView) -> str:
    if view.state is DelegationState.CANCELED:
        return _with_unknown("Canceled.", view)
    return "Stopped." if view.stopped else "Stopped before the request was sent."


def _with_unknown(sentence: str, view: TurnView) -> str:
    """The sentence with what is not known of the calls that were under way."""
    return f"{sentence} {view.task.error.message}" if view.task.error else sentence


def failure_line(view: TurnView) -> str:
    """Why the task failed, with code and trace id."""
    return reason_line("Failed", view.failure, view)


def reason_line(what: str, why: str, view: TurnView) -> str:
    """The failure with its code and trace id; its sentence only if the answer does not contain it already."""
    error = view.task.error
    code = f" [{error.code}]" if error and error.code else ""
    trace = f" (trace {error.trace_id})" if error and error.trace_id else ""
    said = not why or (err().is_terminal and out().is_terminal and why in view.answer)
    return f"{what}{code}{trace}" if said else f"{what}{code}: {why}{trace}"


def print_answer(text: str) -> None:
    """Markdown on a terminal, the text itself in a pipe."""
    if out().is_terminal:
        from multi_agents.cli.view.render import markdown

        out().print(markdown(text))
    else:
        sys.stdout.write(clean(text).rstrip("\n") + "\n")
        sys.stdout.flush()


def say_files(files: Sequence[FileResult]) -> None:
    """Where each file of the answer is."""
    for file in files:
        say(file.sentence)


def summary(result: TurnResult, files: Sequence[FileResult] = ()) -> dict[str, object]:
    """The last line of `--json`: the end state of the turn, the whole answer, and the paths of its files."""
    view = result.view
    return {
        "event": "end",
        "state": view.state or "",
        "answer": view.answer,
        "question": view.status_text if view.waits else "",
        "files": [file.as_json() for file in files],
        "task_id": view.task.task_id,
        "context_id": view.task.context_id,
        "exit_code": int(result.exit_code),
    }
