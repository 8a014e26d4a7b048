"""Delivers push notifications beside the task: a slow webhook never delays it."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field

import httpx
import structlog
from a2a.server.tasks import PushNotificationConfigStore, PushNotificationEvent, PushNotificationSender
from a2a.types.a2a_pb2 import TaskPushNotificationConfig
from a2a.utils.proto_utils import to_stream_response
from google.protobuf.json_format import MessageToJson

from utils.net.url_guard import ForbiddenUrl, checked_target
from utils.observability import catalogue
from utils.observability.metrics import count
from utils.resilience.timing import backoff

log = structlog.get_logger(__name__)

MEDIA_TYPE = "application/a2a+json"


@dataclass(frozen=True, slots=True)
class PushPolicy:
    """How hard a delivery is tried.

    Attributes:
        attempts: Tries per notification, the first included.
        timeout: Seconds for one try (the specification asks for 10 to 30).
        backoff: Seconds before the second try; doubles from there, with jitter.
        waiting: Notifications that may wait per webhook; the oldest are dropped beyond that.
        parallel: Deliveries under way at once, over all webhooks.
        allow_private: Accept loopback and private addresses.
    """

    attempts: int = 4
    timeout: float = 10.0
    backoff: float = 0.5
    waiting: int = 1024
    parallel: int = 16
    allow_private: bool = False


@dataclass
class _Lane:
    """What waits for one webhook, in order."""

    config: TaskPushNotificationConfig
    bodies: deque[bytes] = field(default_factory=deque)
    worker: asyncio.Task[None] | None = None


class PushSender(PushNotificationSender):
    """Queues each notification and delivers it in the background, in order per webhook.

    The SDK's sender is awaited inside the task's event loop: a webhook that takes a second slows
    every event of the task by a second.
    """

    def __init__(self, configs: PushNotificationConfigStore, policy: PushPolicy) -> None:
        self._configs = configs
        self._policy = policy
        self._lanes: dict[tuple[str, str], _Lane] = {}
        self._slots = asyncio.Semaphore(policy.parallel)
        self._client: httpx.AsyncClient | None = None

    async def send_notification(self, task_id: str, event: PushNotificationEvent) -> None:
        """Queue `event` for every webhook of the task."""
        configs = await self._configs.get_info_for_dispatch(task_id)
        if not configs:
            return
        body = MessageToJson(to_stream_response(event), indent=None).encode()
        for config in configs:
            lane = self._lanes.setdefault((task_id, config.id), _Lane(config))
            lane.config = config
            if len(lane.bodies) >= self._policy.waiting:
                lane.bodies.popleft()
                count(catalogue.PUSHES, outcome="dropped")
                log.warning("push.dropped", task_id=task_id, config_id=config.id)
            lane.bodies.append(body)
            if lane.worker is None:
                lane.worker = asyncio.create_task(self._work((task_id, config.id), lane))

    async def aclose(self, grace: float) -> None:
        """Give waiting deliveries `grace` seconds, then stop."""
        workers = [lane.worker for lane in self._lanes.values() if lane.worker is not None]
        if workers:
            _, late = await asyncio.wait(workers, timeout=grace)
            for worker in late:
                worker.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        if self._client is not None:
            await self._client.aclose()

    async def _work(self, key: tuple[str, str], lane: _Lane) -> None:
        try:
            while lane.bodies:
                body = lane.bodies.popleft()
                async with self._slots:
                    await self._deliver(lane.config, body)
        except Exception:  # a background task: the next event starts another worker
            log.exception("push.worker_failed", task_id=key[0], config_id=key[1])
        finally:
            self._lanes.pop(key, None)

    async def _deliver(self, config: TaskPushNotificationConfig, body: bytes) -> None:
        reason = ""
        for attempt in range(self._policy.attempts):
            if attempt:
                await asyncio.sleep(backoff(attempt, first=self._policy.backoff))
            reason, again = await self._attempt(config, body)
            if not reason:
                count(catalogue.PUSHES, outcome="delivered")
                return
            if not again:
                break
        count(catalogue.PUSHES, outcome="failed")
        log.warning("push.failed", task_id=config.task_id, config_id=config.id, reason=reason)

    async def _attempt(self, config: TaskPushNotificationConfig, body: bytes) -> tuple[str, bool]:
        """One try: why it failed (empty when it did not), and whether another may help."""
        try:
            async with asyncio.timeout(self._policy.timeout):
                status = await self._post(config, body)
        except ForbiddenUrl as error:
            return str(error), False
        except (httpx.HTTPError, TimeoutError) as error:
            return type(error).__name__, True
        if status < httpx.codes.MULTIPLE_CHOICES:
            return "", False
        again = status >= httpx.codes.INTERNAL_SERVER_ERROR or status in {408, 425, 429}
        return f"status {status}", again

    async def _post(self, config: TaskPushNotificationConfig, body: bytes) -> int:
        """Send to the address that was checked; answer bodies are not read."""
        target = await checked_target(config.url, allow_private=self._policy.allow_private)
        if self._client is None:
            self._client = httpx.AsyncClient(
                follow_redirects=False, trust_env=False, timeout=self._policy.timeout
            )
        request = self._client.build_request(
            "POST",
            target.url,
            content=body,
            headers={"Host": target.host, "Content-Type": MEDIA_TYPE, **_credentials(config)},
            extensions={"sni_hostname": target.name},
        )
        response = await self._client.send(request, stream=True)
        await response.aclose()
        return response.status_code


def _credentials(config: TaskPushNotificationConfig) -> dict[str, str]:
    headers = {}
    if config.token:
        headers["X-A2A-Notification-Token"] = config.token
    given = config.authentication
    if given.scheme and given.credentials:
        headers["Authorization"] = f"{given.scheme} {given.credentials}"
    return headers
