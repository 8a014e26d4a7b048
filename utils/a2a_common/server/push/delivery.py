"""Delivers one push notification: tries, time-out, address rules, credentials."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import httpx
from a2a.types.a2a_pb2 import TaskPushNotificationConfig

from utils.a2a_common.server.push.body import Notification
from utils.a2a_common.server.push.slots import PushPlaces, PushSlots
from utils.net.bounded import Bound
from utils.net.url_guard import ForbiddenUrl, UrlFault, checked_target
from utils.net.web_client import client_for_checked
from utils.timing import backoff


@dataclass(frozen=True, slots=True)
class PushPolicy:
    """How hard a delivery is tried.

    Attributes:
        attempts: Tries of a notification in a row, the first included.
        timeout: Seconds for one try (the specification asks for 10 to 30).
        backoff: Seconds before the second try; doubles from there, with jitter.
        patience: Seconds for which what settles a turn, its end or its question, is sent again and again to a webhook
            that is away. They count anew in each process.
        first_pause: Seconds between the tries of such a notification and the next ones; doubles from there.
        longest_pause: Upper limit of these pauses in seconds.
        most_lost: Notifications in a row that a webhook may lose; then it is sent only what ends a turn, until it
            answers again.
        places: Tries under way at once.
        allow_private: Accept loopback and private addresses.
    """

    attempts: int = 4
    timeout: float = 10.0
    backoff: float = 0.5
    patience: float = 3600.0
    first_pause: float = 2.0
    longest_pause: float = 60.0
    most_lost: int = 3
    places: PushPlaces = field(default_factory=PushPlaces)
    allow_private: bool = False


@dataclass(frozen=True, slots=True)
class Undelivered:
    """Why a webhook did not take a notification.

    Attributes:
        reason: A status, or the kind of fault.
        is_away: Whether the webhook may take it later: it refused nothing, but cannot be reached or is not well.
    """

    reason: str
    is_away: bool


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
    ) -> Undelivered | None:
        """Send one notification of a task of `owner`; why the webhook did not take it, or `None` where it did."""
        for attempt in range(1, self._policy.attempts + 1):
            failure = await self._attempt(config, told, owner)
            if failure is None or not failure.is_away:
                break
            if attempt < self._policy.attempts:
                await asyncio.sleep(backoff(attempt, first=self._policy.backoff))
        return failure

    async def _attempt(
        self, config: TaskPushNotificationConfig, told: Notification, owner: str
    ) -> Undelivered | None:
        try:
            async with self._slots.taken(owner, _host(config.url)), asyncio.timeout(self._policy.timeout):
                status = await self._post(config, told)
        except ForbiddenUrl as error:  # a name server that fails knows no host
            return Undelivered(error.fault.value, is_away=error.fault is UrlFault.UNRESOLVED)
        except UnicodeEncodeError:  # stored by a version that did not check
            return Undelivered("token or credentials no header can carry", is_away=False)
        except (httpx.HTTPError, TimeoutError) as error:
            return Undelivered(type(error).__name__, is_away=True)
        if status < httpx.codes.MULTIPLE_CHOICES:
            return None
        is_away = status >= httpx.codes.INTERNAL_SERVER_ERROR or status in {408, 425, 429}
        return Undelivered(f"status {status}", is_away)

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
