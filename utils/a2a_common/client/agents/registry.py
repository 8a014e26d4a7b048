"""Registry of the configured sub-agents and their current cards.

Cards are fetched in the background, never at import. An agent that is down at start is known by its last stored card,
if there is one; otherwise it joins when it comes up. The table is replaced as a whole, so that a reader never sees a partial change. A card is a
peer's data: names come from the configuration, texts are capped in length.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import structlog

from utils.a2a_common.client.agents.absence import Absence
from utils.a2a_common.client.agents.card_keys import CardCheck
from utils.a2a_common.client.transport.connection import card_text, fetch_card, http_client, stored_card
from utils.a2a_common.client.transport.errors import CertificateRefused, PeerError
from utils.a2a_common.protocol.card_description import without_model
from utils.a2a_common.protocol.declared import only_reads
from utils.a2a_common.protocol.skill import REFUSED
from utils.cancellation import end_tasks
from utils.errors import PeerLimitExceeded, StorageError
from utils.supervised import ItemErrors, supervised
from utils.timing import wait_for

if TYPE_CHECKING:
    import ssl

    import httpx
    from a2a.types.a2a_pb2 import AgentCard

    from utils.persistence.stores import Cards

log = structlog.get_logger(__name__)

_CARD_SECONDS = 5.0
_RETRY_SECONDS = 1.0
_DOUBT_SECONDS = 30.0
"""How long an agent is looked at every second after a call to it failed: a restart takes seconds."""
LOOK_SECONDS = 5.0
"""How long requests wait for the first look at the agents after a start."""
_MOST_EXAMPLES = 200
_LONGEST = 600
_LONGEST_DESCRIPTION = 4_000


@dataclass(frozen=True)
class SubAgent:
    """One sub-agent as it is known now.

    Attributes:
        name: Its name in our configuration.
        url: Where its card is read.
        card: The newest card, kept when the agent goes down; `None` before the first.
        reachable: Whether the last look succeeded.
        refused: What is wrong with a certificate, its or ours, where the last look failed by that.
    """

    name: str
    url: str
    card: AgentCard | None = None
    reachable: bool = False
    refused: str = ""

    @property
    def only_reads(self) -> bool:
        """Whether its card declares that it changes nothing."""
        return only_reads(self.card)

    @property
    def description(self) -> str:
        """Its abilities, from its card, without the name of its model; shortened only if longer than those of our own agents."""
        if self.card is None:
            return ""
        skills = "; ".join(f"{skill.name}: {skill.description}" for skill in self.card.skills)
        text = " ".join(f"{without_model(self.card.description)} {skills}".split())
        return text if len(text) <= _LONGEST_DESCRIPTION else _cut(text)

    @property
    def summary(self) -> str:
        """The first sentence of its card, for people."""
        text = " ".join(self.card.description.split()) if self.card is not None else ""
        return text.split(". ", 1)[0].rstrip(".")[:_LONGEST]

    @property
    def examples(self) -> list[str]:
        """Requests that are for it, from its card, capped."""
        return self._examples_without("")

    @property
    def offered_examples(self) -> list[str]:
        """Those of them that it does not refuse."""
        return self._examples_without(REFUSED)

    def _examples_without(self, tag: str) -> list[str]:
        skills = self.card.skills if self.card is not None else ()
        found = [
            example[:_LONGEST] for skill in skills if tag not in skill.tags for example in skill.examples
        ]
        return found[:_MOST_EXAMPLES]


def _cut(text: str) -> str:
    """The beginning of a text that is too long, up to the end of a word."""
    return text[: _LONGEST_DESCRIPTION - 2].rsplit(" ", 1)[0] + " …"


NOT_SIGNED = "The card is not signed by a key of SUB_AGENTS_CARD_KEYS."


class _Doubt:
    """Whether an agent that was reachable may be gone: for a while after a call to it failed."""

    def __init__(self) -> None:
        self._until = 0.0
        self._begun = asyncio.Event()

    @property
    def lasts(self) -> bool:
        """Whether it is looked at often."""
        return time.monotonic() < self._until

    def renew(self) -> None:
        """A call failed now. Only the first of several failures ends a wait, so that looks stay a second apart."""
        if not self.lasts:
            self._begun.set()
        self._until = time.monotonic() + _DOUBT_SECONDS

    def look_now(self) -> None:
        """Make the next look happen now, instead of after its interval."""
        self._begun.set()

    async def wait(self, seconds: float) -> None:
        """Wait until a doubt begins, for `seconds` at most."""
        await wait_for(self._begun, seconds)
        self._begun.clear()


OnChange = Callable[[], Awaitable[None]]
OnUp = Callable[[str], None]


def _ignore(_name: str) -> None:
    """Default `OnUp`: does nothing."""


class SubAgentRegistry:
    """Watches the configured sub-agents.

    Args:
        urls: Address of each agent by name.
        refresh_seconds: Pause between two looks at an agent that is up.
        on_change: Called when an agent's card has changed.
        restart_seconds: How long an agent that is gone may be expected back.
        on_up: Called with the name of an agent that is reachable again.
        cards: Keeps the cards over a restart; `None` to begin without any.
        tls: From `client_context`.
        checks: For agents whose cards must be signed: whether a card is.
    """

    def __init__(
        self,
        urls: Mapping[str, str],
        *,
        refresh_seconds: float,
        on_change: OnChange,
        restart_seconds: float = 0.0,
        on_up: OnUp = _ignore,
        cards: Cards | None = None,
        tls: ssl.SSLContext | None = None,
        checks: Mapping[str, CardCheck] | None = None,
    ) -> None:
        self._tls = tls
        self._cards = cards
        self._checks = checks or {}
        self._agents = {name: SubAgent(name, url) for name, url in urls.items()}
        self._refresh_seconds = refresh_seconds
        self._on_change = on_change
        self._on_up = on_up
        self._watchers: list[asyncio.Task[None]] = []
        self._looked = {name: asyncio.Event() for name in urls}
        self._joined = {name: asyncio.Event() for name in urls}
        self._next_looks = {name: asyncio.Event() for name in urls}
        self._doubts = {name: _Doubt() for name in urls}
        self._absences = {name: Absence(restart_seconds) for name in urls}

    @property
    def agents(self) -> Sequence[SubAgent]:
        """All configured sub-agents, in configured order."""
        return tuple(self._agents.values())

    @property
    def not_joined(self) -> Sequence[str]:
        """Names of the agents whose card is not known yet, or not yet reported to `on_change`."""
        return tuple(name for name, joined in self._joined.items() if not joined.is_set())

    @property
    def known(self) -> Sequence[SubAgent]:
        """Those whose card was read at least once."""
        return tuple(agent for agent in self.agents if agent.card is not None)

    def get(self, name: str) -> SubAgent:
        """The sub-agent of that name as it is known now."""
        return self._agents[name]

    @property
    def looked_at_all(self) -> bool:
        """Whether every sub-agent was looked for once, with or without success."""
        return all(event.is_set() for event in self._looked.values())

    async def missing(self, names: Collection[str]) -> list[str]:
        """Those of `names` that cannot be reached, once each was looked for or the time is up."""
        await self.looked_at(names)
        return [name for name in names if name not in self._agents or not self._agents[name].reachable]

    def back_within(self, name: str) -> float:
        """Seconds within which an agent may be expected back from a restart; 0 where it was never there, or is gone longer."""
        agent = self._agents.get(name)
        return 0.0 if agent is None or agent.card is None else self._absences[name].left

    async def is_back(self, name: str) -> bool:
        """Whether an agent that was gone can be reached by now: it is looked at once more, which is waited for."""
        if name not in self._agents:
            return False
        self._doubts[name].look_now()
        await wait_for(self._next_looks[name], LOOK_SECONDS)
        return self._agents[name].reachable

    async def until_up(self, name: str, seconds: float) -> None:
        """Wait until an agent is reachable, for `seconds` at most."""
        await self._absences[name].over(seconds)

    async def until_all_join(self, seconds: float) -> None:
        """Wait until the card of every agent is known and reported to `on_change`, for `seconds` at most."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await asyncio.gather(*(joined.wait() for joined in self._joined.values()))

    async def looked_at(self, names: Collection[str]) -> None:
        """Wait until each of `names` was looked for once, with or without success, or the time is up."""
        looks = [self._looked[name].wait() for name in names if name in self._looked]
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LOOK_SECONDS):
                await asyncio.gather(*looks)

    async def recall(self) -> None:
        """Take the cards that an earlier process had stored; those of addresses that are no longer configured are ignored.

        Raises:
            StorageError: They cannot be read.
        """
        from utils.a2a_common.client.transport.limits import CARD, LARGEST_CARD, PeerLimits

        stored = await self._cards.all() if self._cards is not None else {}
        for name, agent in self._agents.items():
            text = stored.get(agent.url)
            card = stored_card(text, PeerLimits(name, CARD, LARGEST_CARD)) if text is not None else None
            if card is not None and self._is_taken(name, card):
                self._agents = {**self._agents, name: replace(agent, card=card)}
                self._joined[name].set()

    def doubt(self, name: str) -> None:
        """A call to the agent failed: look at once, and often for a while, so that it is seen to go and to come back."""
        self._doubts[name].renew()

    def start(self) -> None:
        """Begin to watch, in the background."""
        self._watchers = [asyncio.create_task(self._watch(name)) for name in self._agents]

    async def stop(self) -> None:
        """End all watching."""
        await end_tasks(self._watchers)
        self._watchers = []

    async def _watch(self, name: str) -> None:
        from utils.a2a_common.client.transport.limits import CARD, LARGEST_CARD, PeerLimits

        url = self._agents[name].url
        async with contextlib.AsyncExitStack() as stack:
            limits = PeerLimits(name, CARD, LARGEST_CARD)
            http = await stack.enter_async_context(http_client(url, limits, tls=self._tls))
            step = partial(self._step, name, http)
            await supervised("sub_agents", step, self._doubts[name].wait, longest=self._refresh_seconds)

    async def _step(self, name: str, http: httpx.AsyncClient) -> float:
        try:
            await self._look(name, http)
        finally:
            self._looked[name].set()
            looked, self._next_looks[name] = self._next_looks[name], asyncio.Event()
            looked.set()
        calm = self._agents[name].reachable and not self._doubts[name].lasts
        pause = self._refresh_seconds if calm else min(_RETRY_SECONDS, self._refresh_seconds)
        return pause * random.uniform(0.9, 1.1)  # noqa: S311 - pacing, not a secret

    async def _look(self, name: str, http: httpx.AsyncClient) -> None:
        card, refused = await self._fetch(name, http)
        known = self._agents[name]
        changed = card is not None and card != known.card
        fresh = replace(known, card=card or known.card, reachable=card is not None, refused=refused)
        if fresh.reachable != known.reachable:
            log.info("sub_agent.reachable" if fresh.reachable else "sub_agent.unreachable", agent=name)
        self._agents = {**self._agents, name: fresh}
        self._absences[name].note(there=fresh.reachable)
        failures = ItemErrors()
        if fresh.reachable and not known.reachable:
            with failures.collect("sub_agents", agent=name):
                self._on_up(name)
        if changed and card is not None:
            await self._notify_change(name)
            self._joined[name].set()
            await self._keep(fresh.url, card)
        failures.raise_first()

    async def _keep(self, url: str, card: AgentCard) -> None:
        if self._cards is None:
            return
        try:
            await self._cards.put(url, card_text(card))
        except StorageError as error:  # the card is known all the same, until the next restart
            log.warning("sub_agent.card_not_stored", reason=error.code)

    async def _fetch(self, name: str, http: httpx.AsyncClient) -> tuple[AgentCard | None, str]:
        """Its card, or why a certificate was refused."""
        try:
            async with asyncio.timeout(_CARD_SECONDS):
                card = await fetch_card(http, self._agents[name].url)
            return (card if self._is_taken(name, card) else None), ""
        except PeerLimitExceeded as error:
            log.warning("sub_agent.card_refused", agent=name, reason=error.message)
            return None, ""
        except CertificateRefused as error:
            first = self._agents[name].reachable or not self._looked[name].is_set()
            log_event = log.warning if first else log.debug
            log_event("sub_agent.certificate_refused", agent=name, reason=error.message)
            return None, error.message
        except (PeerError, TimeoutError) as error:
            log.debug("sub_agent.card_failed", agent=name, reason=type(error).__name__)
            return None, ""

    def _is_taken(self, name: str, card: AgentCard) -> bool:
        """Whether a card has the signature that its agent's cards must have."""
        check = self._checks.get(name)
        if check is None or check(card):
            return True
        log.warning("sub_agent.card_refused", agent=name, reason=NOT_SIGNED)
        return False

    async def _notify_change(self, name: str) -> None:
        try:
            await self._on_change()
        except Exception:  # background task: a failed rebuild must not end the watching
            log.exception("sub_agent.change_failed", agent=name)
