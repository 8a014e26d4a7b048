"""Delivers one push notification: tries, time-out, address rules, credentials."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import httpx
import structlog
from a2a.types.a2a_pb2 import TaskPushNotificationConfig

from utils.a2a_common.server.push.body import Notification
from utils.a2a_common.server.push.slots import PushPlaces, PushSlots
from utils.net.bounded import Bound
from utils.net.url_guard import ForbiddenUrl, checked_target
from utils.net.web_client import client_for_checked
from utils.observability import catalogue
from utils.observability.metrics import count
from utils.timing import backoff

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class PushPolicy:
    """How hard a delivery is tried.

    Attributes:
        attempts: Tries per notification, the first included.
        timeout: Seconds for one try (the specification asks for 10 to 30).
        backoff: Seconds before the second try; doubles from there, with jitter.
        most_lost: Notifications in a row that a webhook may lose; then it is sent only what ends a turn, until it
            answers again.
        places: Tries under way at once.
        allow_private: Accept loopback and private addresses.
    """

    attempts: int = 4
    timeout: float = 10.0
    backoff: float = 0.5
    most_lost: int = 3
    places: PushPlaces = field(default_factory=PushPlaces)
    allow_private: bool = False


class PushDelivery:
    """Sends notifications over one HTTP client.

    Args:
        policy: How hard each is tried.
    """

    def __init__(self, policy: PushPolicy) -> None:
        self._policy = policy
        self._slots = PushSlots(policy.places)
        self._client: httpx.AsyncClient | None = None

    async def aclose(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.aclose()

    async def deliver(
        self, config: TaskPushNotificationConfig, told: Notification, *, owner: str = ""
    ) -> bool:
        """Send one notification of a task of `owner`; whether the webhook took it."""
        reason = ""
        for attempt in range(self._policy.attempts):
            if attempt:
                await asyncio.sleep(backoff(attempt, first=self._policy.backoff))
            reason, again = await self._attempt(config, told, owner)
            if not reason:
                count(catalogue.PUSHES, outcome="delivered")
                return True
            if not again:
                break
        count(catalogue.PUSHES, outcome="failed")
        log.warning("push.failed", task_id=config.task_id, config_id=config.id, reason=reason)
        return False

    async def _attempt(
        self, config: TaskPushNotificationConfig, told: Notification, owner: str
    ) -> tuple[str, bool]:
        """One try: why it failed (empty when it did not), and whether another may help."""
        try:
            async with self._slots.taken(owner, _host(config.url)), asyncio.timeout(self._policy.timeout):
                status = await self._post(config, told)
        except ForbiddenUrl as error:
            return error.fault.value, False
        except UnicodeEncodeError:  # stored by a version that did not check
            return "token or credentials no header can carry", False
        except (httpx.HTTPError, TimeoutError) as error:
            return type(error).__name__, True
        if status < httpx.codes.MULTIPLE_CHOICES:
            return "", False
        again = status >= httpx.codes.INTERNAL_SERVER_ERROR or status in {408, 425, 429}
        return f"status {status}", again

    async def _post(self, config: TaskPushNotificationConfig, told: Notification) -> int:
        """Send to the address that was checked; answer bodies are not read."""
        target = await checked_target(config.url, allow_private=self._policy.allow_private)
        if self._client is None:
            self._client = client_for_checked(Bound(), seconds=self._policy.timeout)
        request = self._client.build_request(
            "POST",
            target.url,
            content=told.body,
            headers={"Host": target.host, "Content-Type": told.media_type, **_credentials(config)},
            extensions={"sni_hostname": target.name},
        )
        response = await self._client.send(request, stream=True)
        await response.aclose()
        return response.status_code


def _host(url: str) -> str:
    return urlsplit(url).netloc.rpartition("@")[2].lower()


def _credentials(config: TaskPushNotificationConfig) -> dict[str, str]:
    headers = {}
    if config.token:
        headers["X-A2A-Notification-Token"] = config.token
    given = config.authentication
    if given.scheme and given.credentials:
        headers["Authorization"] = f"{given.scheme} {given.credentials}"
    return headers
