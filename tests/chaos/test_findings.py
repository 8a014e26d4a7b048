"""What the driver of the chaos run notices: each count is seen above zero, so that its zero means something."""

from __future__ import annotations

import asyncio
import json
import socket
from pathlib import Path

import pytest

from benchmarks.chaos.aftermath import count_refusals, read_logs
from benchmarks.chaos.client import Conversation, Seen, http_client
from benchmarks.chaos.conversation import check_step
from benchmarks.chaos.orders import EVENTS, ORDERS, WORKER, Order, Step
from benchmarks.chaos.server_process import ServerProcess, sockets
from benchmarks.chaos.tally import Tally
from utils.testing.strict_provider import Api, Rejected, StrictProvider

PLAIN = Step(1, Order("plain", WORKER), "send", 1)
DONE = Seen("t", "TASK_STATE_COMPLETED", "The tool said The tool said done")


def logged(tmp_path: Path, *lines: dict[str, str] | str) -> Tally:
    process = ServerProcess((), tmp_path / "worker", {})
    process.log.write_text("\n".join(each if isinstance(each, str) else json.dumps(each) for each in lines))
    tally = Tally()
    read_logs({"worker": process}, tally)
    return tally


def closed(task: str) -> dict[str, str]:
    return {"level": "warning", "event": "event_queue.closed", "message": "Queue is closed", "task_id": task}


def test_a_second_line_on_the_closed_queue_of_one_task_is_noise(tmp_path: Path) -> None:
    assert not logged(tmp_path, closed("a"), closed("b")).wrong
    assert logged(tmp_path, closed("a"), closed("b"), closed("a")).wrong == {"noisy": 1}


def test_the_sdks_own_lines_on_closed_queues_are_noise_too(tmp_path: Path) -> None:
    theirs = {"level": "warning", "event": "Queue is closed. Event will not be enqueued."}
    assert logged(tmp_path, theirs, theirs).wrong == {"noisy": 1}


def test_an_error_that_nobody_injected_is_a_crash(tmp_path: Path) -> None:
    injected = {"level": "error", "event": "tool.crashed", "exception": "Traceback …\nZeroDivisionError"}
    other = {"level": "error", "event": "turn.crashed", "exception": "Traceback …\nKeyError: 1"}
    assert logged(tmp_path, injected, other, "Fatal Python error").wrong == {"crashed": 2}


def test_a_refusal_is_counted_but_for_those_over_the_window_until_it_is_learnt() -> None:
    double, tally = StrictProvider(), Tally()
    for rule in ("window", "window", "window", "orphan"):
        double.rejections.append(Rejected(Api.OPENAI, rule, "No.", {}))
    count_refusals(double, tally, most_too_long=2)
    assert tally.wrong == {"rejected": 2}
    assert tally.happened["too_long"] == 3


@pytest.mark.parametrize(
    "seen",
    [
        Seen("t", "TASK_STATE_FAILED", said="No."),
        Seen("t", "TASK_STATE_COMPLETED", "Something else"),
        Seen("t", "TASK_STATE_WORKING"),
        Seen(),
    ],
)
def test_a_turn_that_nobody_stopped_must_end_as_it_must(seen: Seen) -> None:
    tally = Tally()
    check_step(PLAIN, DONE, tally)
    check_step(PLAIN, Seen("t", "TASK_STATE_WORKING", left=True), tally)
    assert not tally.wrong
    check_step(PLAIN, seen, tally)
    assert tally.wrong == {"unrecovered": 1}


async def test_a_connection_that_breaks_is_counted_and_ends_no_run() -> None:
    async def resets(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.transport.abort()

    async with await asyncio.start_server(resets, "127.0.0.1", 0) as server, http_client() as http:
        talk = Conversation(http, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        tally = Tally()
        for seen in (
            await talk.send("Hello."),
            await talk.leave("Hello.", 1),
            await talk.cancel("Hello.", 1),
        ):
            assert seen.said.startswith("The connection broke")
            check_step(PLAIN, seen, tally)
    assert tally.wrong == {"unrecovered": 3}


def test_what_never_happened_is_missing() -> None:
    tally = Tally()
    tally.happened.update(dict.fromkeys((*ORDERS, *EVENTS), 1))
    tally.demand_everything()
    assert not tally.wrong
    tally.happened[ORDERS[0]] = 0
    tally.demand_everything()
    assert tally.wrong == {"missing": 1}
    assert "1 missing" in tally.verdict(5)


def test_an_open_socket_is_seen_from_outside() -> None:
    own = int(Path("/proc/self").readlink().name)
    before = sockets(own)
    with socket.socket():
        assert sockets(own) == before + 1
