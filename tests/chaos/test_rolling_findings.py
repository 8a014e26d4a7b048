"""What the driver of the rolling restart notices: each count is seen above zero, so that its zero means something."""

from __future__ import annotations

import json
import socket
import time
from collections import Counter

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from benchmarks.rolling.tally import Tally
from benchmarks.service.balancer import Balancer
from benchmarks.service.client import COMPLETED, FAILED, Seen
from benchmarks.service.script import WORK, Order
from utils.testing.live_server import running

ORDER = Order("1.0", WORK)


def seen(text: str = ORDER.answer, stored: str = ORDER.answer, state: str = COMPLETED) -> Seen:
    return Seen("t", state, text, stored, ended=time.monotonic())


@pytest.mark.parametrize(
    ("found", "wrong"),
    [
        (seen(), {}),
        (seen(state=FAILED), {"failed": 1}),
        (seen(state="TASK_STATE_WORKING"), {"stuck": 1}),
        (seen("Answer 1.0:"), {"incomplete": 1}),
        (seen(stored="Answer 1.0:"), {"incomplete": 1}),
    ],
)
def test_a_turn_that_is_not_whole_in_stream_and_store_is_counted(found: Seen, wrong: dict[str, int]) -> None:
    tally = Tally()
    tally.check(ORDER, found, streamed=True)
    assert tally.wrong == wrong


def test_what_is_there_twice_refused_or_in_a_log_is_counted() -> None:
    tally = Tally()
    tally.check_effects(["a", "b", "a"])
    tally.check_remarks(Counter({("a", "message doubled"): 1, ("", "refused by the provider: orphan"): 2}))
    tally.check_log(
        [
            json.dumps({"event": "turn.resumed"}),
            json.dumps({"event": "x", "exception": "Traceback …"}),
            "Traceback",
        ]
    )
    assert tally.wrong == {"doubled": 2, "refused": 2, "crashed": 2}
    assert tally.happened["continued"] == 1


def test_a_run_that_interrupted_nothing_has_shown_nothing() -> None:
    tally = Tally()
    assert not tally.passed()
    tally.happened.update(restarts=2, continued=1)
    assert tally.passed()


async def test_the_balancer_skips_a_replica_that_does_not_listen_and_takes_turns_between_the_others() -> None:
    def named(name: str) -> Starlette:
        return Starlette(routes=[Route("/", lambda _: PlainTextResponse(name))])

    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        gone = f"http://127.0.0.1:{unused.getsockname()[1]}"
        balancer = Balancer()
        async with balancer.open(), running(named("a")) as one, running(named("b")) as two:
            balancer.replicas = [one, gone, two]
            answers: list[httpx.Response] = []
            for _ in range(6):
                async with httpx.AsyncClient(trust_env=False) as http:
                    answers.append(await http.get(balancer.url))
    assert Counter(answer.text for answer in answers) == {"a": 3, "b": 3}
