"""Push notifications reach webhooks beside the task, in order, and only public addresses."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from a2a.types.a2a_pb2 import TaskState
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from structlog.testing import capture_logs

from tests.e2e.wire.agents import Stage, echo
from tests.e2e.wire.wiring import Wire, message, serving, state
from utils.a2a_common.server.push.delivery import PushPolicy
from utils.net.special_addresses import is_public
from utils.net.url_guard import ForbiddenUrl, checked_target
from utils.testing.live_server import running

PRIVATE = {"PUSH_ALLOW_PRIVATE": "true"}


class Hook:
    """A webhook that remembers what it got; `answer` decides what it says."""

    def __init__(self, answer: Callable[[int], Awaitable[Response]] | None = None) -> None:
        self.requests: list[tuple[dict[str, str], dict[str, Any]]] = []
        self._answer = answer
        self._changed = asyncio.Event()

    async def receive(self, request: Request) -> Response:
        self.requests.append((dict(request.headers), await request.json()))
        self._changed.set()
        return await self._answer(len(self.requests)) if self._answer else Response(status_code=204)

    async def heard(self, count: int) -> None:
        async with asyncio.timeout(60):
            while len(self.requests) < count:
                self._changed.clear()
                await self._changed.wait()

    def kinds(self) -> list[str]:
        return [name for _, body in self.requests for name in body]


@contextlib.asynccontextmanager
async def listening(hook: Hook) -> AsyncIterator[str]:
    async with running(Starlette(routes=[Route("/hook", hook.receive, methods=["POST"])])) as url:
        yield f"{url}/hook"


async def send_with(wire: Wire, url: str, **config: Any) -> dict[str, Any]:
    configuration = {"taskPushNotificationConfig": {"url": url, **config}}
    return await wire.rpc("SendMessage", {"message": message(), "configuration": configuration})


async def test_a_webhook_hears_every_event_in_order_with_its_credentials():
    hook = Hook()
    async with listening(hook) as url, serving(echo, settings=PRIVATE) as wire:
        await send_with(wire, url, token="t", authentication={"scheme": "Bearer", "credentials": "c"})
        await hook.heard(4)
    assert hook.kinds() == ["task", "statusUpdate", "artifactUpdate", "statusUpdate"]
    headers, _ = hook.requests[0]
    assert headers["authorization"] == "Bearer c"
    assert headers["x-a2a-notification-token"] == "t"
    assert headers["content-type"] == "application/a2a+json"


async def test_a_slow_webhook_does_not_slow_the_task():
    free = asyncio.Event()

    async def wait(_: int) -> Response:
        await free.wait()
        return Response(status_code=204)

    hook = Hook(wait)
    async with listening(hook) as url, serving(echo, settings=PRIVATE) as wire:
        task = (await send_with(wire, url))["result"]["task"]
        assert state(task) == "completed"
        assert len(hook.requests) <= 1
        free.set()
        await hook.heard(4)


async def test_a_failing_delivery_is_tried_again_before_the_next_one(monkeypatch):
    async def fail_twice(count: int) -> Response:
        return Response(status_code=503 if count <= 2 else 204)

    hook = Hook(fail_twice)
    hurried(monkeypatch)
    async with listening(hook) as url, serving(echo, settings=PRIVATE) as wire:
        await send_with(wire, url)
        await hook.heard(6)
    assert hook.kinds() == ["task", "task", "task", "statusUpdate", "artifactUpdate", "statusUpdate"]


def _quick_policy(original: Any) -> Any:
    def init(self: PushPolicy, **fields: Any) -> None:
        original(self, **{"backoff": 0.01, "timeout": 0.5, **fields})

    return init


async def test_a_refused_delivery_is_not_tried_again():
    async def gone(_: int) -> Response:
        return Response(status_code=410)

    hook = Hook(gone)
    async with listening(hook) as url, serving(echo, settings=PRIVATE) as wire:
        await send_with(wire, url)
        await hook.heard(4)
    assert hook.kinds() == ["task", "statusUpdate", "artifactUpdate", "statusUpdate"]


async def test_a_redirect_is_not_followed():
    inner = Hook()

    async with listening(inner) as secret:

        async def redirect(_: int) -> Response:
            return RedirectResponse(secret)

        outer = Hook(redirect)
        async with listening(outer) as url, serving(echo, settings=PRIVATE) as wire:
            await send_with(wire, url)
            await outer.heard(4)
    assert inner.requests == []


@pytest.mark.long
async def test_a_webhook_that_hangs_is_given_up(monkeypatch):
    async def hang(_: int) -> Response:
        await asyncio.sleep(5)
        return Response()

    hook = Hook(hang)
    monkeypatch.setattr(PushPolicy, "__init__", _quick_policy(PushPolicy.__init__))

    async def one_event(stage: Stage) -> None:
        await stage.task()
        await stage.status(TaskState.TASK_STATE_COMPLETED)

    async with listening(hook) as url, serving(one_event, settings=PRIVATE) as wire:
        await send_with(wire, url)
        await hook.heard(4)
    assert hook.kinds()[:4] == ["task"] * 4


def hurried(monkeypatch: pytest.MonkeyPatch, **fields: float) -> None:
    """Let pauses between tries be short."""
    quick = {"backoff": 0.01, "first_pause": 0.01, "longest_pause": 0.05, **fields}
    original = PushPolicy.__init__
    monkeypatch.setattr(PushPolicy, "__init__", lambda self, **given: original(self, **{**quick, **given}))


@pytest.mark.parametrize(
    "settled", [TaskState.TASK_STATE_COMPLETED, TaskState.TASK_STATE_INPUT_REQUIRED], ids=TaskState.Name
)
async def test_a_webhook_that_is_away_for_a_while_hears_how_the_turn_ended_once(monkeypatch, settled):
    """It is away for many more tries than any other event gets."""

    async def away_at_first(count: int) -> Response:
        return Response(status_code=503 if count <= 40 else 204)

    async def settle(stage: Stage) -> None:
        await stage.task()
        await stage.status(settled)

    hook = Hook(away_at_first)
    hurried(monkeypatch)
    with capture_logs() as lines:
        async with listening(hook) as url, serving(settle, settings=PRIVATE) as wire:
            await send_with(wire, url)
            await hook.heard(41)
    assert hook.requests[-1][1]["statusUpdate"]["status"]["state"] == TaskState.Name(settled)
    assert len(hook.requests) == 41
    assert [line["event"] for line in lines if line["event"].startswith("push.")] == [
        "push.failed",
        "push.waiting",
    ]


async def test_a_webhook_that_stays_away_is_given_up_after_its_time(monkeypatch):
    async def away(_: int) -> Response:
        return Response(status_code=503)

    hook = Hook(away)
    hurried(monkeypatch, patience=0.2)
    with capture_logs() as lines:
        async with listening(hook) as url, serving(echo, settings=PRIVATE) as wire:
            await send_with(wire, url)
            async with asyncio.timeout(60):
                while not [line for line in lines if line["event"] == "push.failed"][3:]:
                    await asyncio.sleep(0.01)
            heard = len(hook.requests)
    assert heard > 4 * PushPolicy().attempts
    assert len(hook.requests) == heard


async def test_a_webhook_that_is_deleted_while_it_is_waited_for_is_tried_no_more(monkeypatch):
    async def away(_: int) -> Response:
        return Response(status_code=503)

    hook = Hook(away)
    hurried(monkeypatch, longest_pause=0.01)
    async with listening(hook) as url, serving(echo, settings=PRIVATE) as wire:
        task_id = (await send_with(wire, url))["result"]["task"]["id"]
        with capture_logs() as lines:
            async with asyncio.timeout(60):
                while not any(line["event"] == "push.waiting" for line in lines):
                    await asyncio.sleep(0.01)
            await wire.rpc("DeleteTaskPushNotificationConfig", {"taskId": task_id, "id": task_id})
            other = Hook()
            async with listening(other) as second:
                await send_with(wire, second)
                await other.heard(4)
            heard = len(hook.requests)
            async with listening(other) as second:
                await send_with(wire, second)
                await other.heard(8)
    assert len(hook.requests) <= heard + PushPolicy().attempts


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/x", "http://localhost/x", "http://10.0.0.1/x", "http://169.254.169.254/latest/meta-data",
        "http://[::1]/x", "http://[::ffff:127.0.0.1]/x", "http://100.64.0.1/", "http://0.0.0.0/", "file:///etc/passwd",
        "gopher://example.com/", "http://user:pass@example.com/", "http:///x", "no url", "http://2130706433/",
        "http://[64:ff9b::7f00:1]/", "http://[2002:7f00:1::]/",
    ],
)  # fmt: skip
async def test_a_webhook_at_a_private_address_is_refused(url):
    async with serving(echo) as wire:
        refused = await send_with(wire, url)
        assert refused["error"]["code"] == -32602
        assert wire.agent.seen == []
        task = await wire.send()
        created = await wire.rpc("CreateTaskPushNotificationConfig", {"taskId": task["id"], "url": url})
        assert created["error"]["code"] == -32602


async def test_a_webhook_whose_host_is_not_known_yet_is_stored_where_private_addresses_are_allowed():
    url = "http://not-there-yet.invalid/hook"
    async with serving(echo, settings=PRIVATE) as wire:
        task_id = (await wire.send())["id"]
        made = await wire.rpc("CreateTaskPushNotificationConfig", {"taskId": task_id, "id": "c", "url": url})
        assert made["result"]["url"] == url
        wrong = await wire.rpc(
            "CreateTaskPushNotificationConfig", {"taskId": task_id, "url": "ftp://x.invalid/"}
        )
        assert wrong["error"]["code"] == -32602
    async with serving(echo) as wire:
        task_id = (await wire.send())["id"]
        refused = await wire.rpc("CreateTaskPushNotificationConfig", {"taskId": task_id, "url": url})
        assert refused["error"]["code"] == -32602


async def test_a_refused_webhook_does_not_tell_whether_a_name_is_known_in_the_own_network():
    known, unknown = "http://localhost/x", "http://not-here.invalid/x"
    async with serving(echo) as wire:
        task = await wire.send()
        said: list[str] = []
        with capture_logs() as lines:
            for url in (known, unknown):
                refused = await wire.rpc(
                    "CreateTaskPushNotificationConfig", {"taskId": task["id"], "url": url}
                )
                said.append(refused["error"]["message"])
    assert len(set(said)) == 1
    assert [each["reason"] for each in lines if each["event"] == "url.refused"] == ["private", "unresolved"]


async def test_the_address_that_was_checked_is_the_one_that_is_called():
    target = await checked_target("http://localhost:81/path?q=1", allow_private=True)
    assert target.url.host in {"127.0.0.1", "::1"}
    assert target.host == "localhost:81"
    assert (target.name, target.url.port, target.url.raw_path) == ("localhost", 81, b"/path?q=1")
    with pytest.raises(ForbiddenUrl):
        await checked_target("http://localhost:81/", allow_private=False)
    assert is_public("93.184.216.34")
    assert is_public("2606:4700::1111")


async def test_push_configs_can_be_created_read_listed_and_deleted():
    async with serving(echo, settings=PRIVATE) as wire:
        task_id = (await wire.send())["id"]
        made = await wire.rpc(
            "CreateTaskPushNotificationConfig", {"taskId": task_id, "id": "c", "url": "http://127.0.0.1:9/"}
        )
        assert made["result"]["id"] == "c"
        one = {"taskId": task_id, "id": "c"}
        assert (await wire.rpc("GetTaskPushNotificationConfig", one))["result"] == made["result"]
        listed = await wire.rpc("ListTaskPushNotificationConfigs", {"taskId": task_id})
        assert [config["id"] for config in listed["result"]["configs"]] == ["c"]
        await wire.rpc("DeleteTaskPushNotificationConfig", one)
        assert (await wire.rpc("GetTaskPushNotificationConfig", one))["error"]["code"] == -32001


async def test_a_webhook_that_takes_nothing_is_sent_only_the_end_after_some_tries(monkeypatch):
    async def refuse(_: int) -> Response:
        return Response(status_code=410)

    async def talk(stage: Stage) -> None:
        await stage.task()
        await stage.status(TaskState.TASK_STATE_WORKING)
        for index in range(20):
            await stage.chunk(f"{index} ", append=index > 0)
        await stage.status(TaskState.TASK_STATE_COMPLETED)

    hook = Hook(refuse)
    async with listening(hook) as url, serving(talk, settings=PRIVATE) as wire:
        await send_with(wire, url)
        await hook.heard(4)
    assert hook.kinds() == ["task", "statusUpdate", "artifactUpdate", "statusUpdate"]
    assert state(hook.requests[-1][1]["statusUpdate"]) == "completed"


async def test_a_webhook_that_was_deleted_hears_nothing_more():
    taken, go_on = asyncio.Event(), asyncio.Event()

    async def take(_: int) -> Response:
        taken.set()
        await go_on.wait()
        return Response(status_code=204)

    hook = Hook(take)
    async with listening(hook) as url, serving(echo, settings=PRIVATE) as wire:
        task_id = (await send_with(wire, url))["result"]["task"]["id"]
        await taken.wait()
        await wire.rpc("DeleteTaskPushNotificationConfig", {"taskId": task_id, "id": task_id})
        go_on.set()
    assert hook.kinds() == ["task"]


async def test_a_webhook_that_is_far_behind_hears_every_event_in_order():
    """It takes none before the task is over, and they are more than memory keeps."""
    free = asyncio.Event()

    async def wait(_: int) -> Response:
        await free.wait()
        return Response(status_code=204)

    async def torrent(stage: Stage) -> None:
        await stage.task()
        for index in range(300):
            await stage.chunk(f"{index} {'x' * 20_000}", append=index > 0)
        await stage.status(TaskState.TASK_STATE_COMPLETED)

    hook = Hook(wait)
    async with listening(hook) as url, serving(torrent, settings=PRIVATE) as wire:
        assert state((await send_with(wire, url))["result"]["task"]) == "completed"
        free.set()
        await hook.heard(302)
    told = [body["artifactUpdate"]["artifact"]["parts"][0]["text"] for _, body in hook.requests[1:-1]]
    assert [text.split()[0] for text in told] == [str(index) for index in range(300)]
