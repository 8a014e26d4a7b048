"""A task that somebody else's code made cannot end the process, whatever it raises."""

from __future__ import annotations

import asyncio
import gc
import sys
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from structlog.testing import capture_logs

from utils.a2a_common.tasks.contained_tasks import contain_tasks
from utils.a2a_common.tasks.third_party_code import CodeExited, CodeRaised
from utils.processes.event_loop import new_event_loop

both_loops = pytest.mark.parametrize("loop", [new_event_loop, asyncio.new_event_loop], ids=["own", "asyncio"])


async def leaves() -> None:
    await asyncio.sleep(0)
    sys.exit(3)


async def interrupts() -> None:
    raise KeyboardInterrupt


def run(loop: Callable[[], asyncio.AbstractEventLoop], work: Callable[[], Any]) -> Any:
    async def main() -> Any:
        contain_tasks(asyncio.get_running_loop())
        return await work()

    with asyncio.Runner(loop_factory=loop) as runner:
        return runner.run(main())


@both_loops
@pytest.mark.parametrize(("work", "kind"), [(leaves, CodeExited), (interrupts, CodeRaised)])
def test_a_task_that_leaves_ends_alone_and_is_logged(loop, work, kind):
    async def main() -> BaseException | None:
        task = asyncio.create_task(work(), name="theirs")
        await asyncio.wait([task])
        assert task.get_name() == "theirs"
        assert work.__name__ in repr(task)
        return task.exception()

    with capture_logs() as logs:
        assert isinstance(run(loop, main), kind)
    (told,) = [each for each in logs if each["event"] == "task.exit_contained"]
    assert (told["log_level"], told["task"]) == ("error", work.__name__)


@both_loops
def test_what_a_task_returns_raises_and_is_canceled_with_stays_as_it_is(loop):
    async def gives(value: Any) -> Any:
        await asyncio.sleep(0)
        if isinstance(value, Exception):
            raise value
        return value

    async def main() -> None:
        async with asyncio.TaskGroup() as group:
            given = group.create_task(gives(5))
        assert given.result() == 5
        with pytest.raises(ZeroDivisionError):
            await asyncio.create_task(gives(ZeroDivisionError()))
        waits = asyncio.create_task(asyncio.sleep(60))
        await asyncio.sleep(0)
        waits.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waits

    run(loop, main)


@both_loops
def test_a_task_that_is_canceled_before_it_began_leaves_nothing_unawaited(loop):
    async def main() -> None:
        task = asyncio.create_task(leaves())
        task.cancel()
        await asyncio.wait([task])

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(loop, main)
        gc.collect()
