"""Runs one change: asks for approval, records each step, sends once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

import structlog

from agents.github.authorisation.sign_in import Asker, SignIns
from agents.github.changes import journal
from agents.github.changes.approval import question_of
from agents.github.changes.change import Change, checked
from agents.github.changes.journal import Entry
from agents.github.changes.post import AuthorisationEnded, Poster
from agents.github.tools.project import text
from utils.errors import OutcomeUnknown, StorageError, UpstreamRefused, UpstreamUnavailable
from utils.messages.approval import approves
from utils.messages.results import Record

log = structlog.get_logger(__name__)

Ask = Callable[[dict[str, Any]], Any]
"""Asks the user and returns the answer: LangGraph's `interrupt`, which ends the run until there is one."""

Begins = Callable[[], None]
"""Is called before something may change, and for a change that may have been made before."""

_KIND = "change on GitHub"
_TWICE = (
    "Warning: the same change was sent before, and its outcome is unknown. "
    "Check GitHub first; sending it again may do it twice."
)
_DECLINED = "the answer was not an explicit yes"
_NOT_SHOWN = "it had not been shown before"


_MAYBE_MADE = frozenset({journal.INTENDED, journal.UNKNOWN, journal.DONE})


def _nobody_asks() -> None:
    """Default of `begins`: does nothing."""


class Book(Protocol):
    """The journal of changes; `agents.github.changes.journal` says what each of these does."""

    async def open(self) -> None:
        """Open it."""

    async def close(self) -> None:
        """Close it."""

    async def delete(self, thread_id: str) -> None:
        """Delete what is recorded of a conversation."""

    async def ask(self, entry: Entry) -> tuple[Entry, bool]:
        """Record that the user is asked. Return the stored entry of this call, and whether it is new."""

    async def intend(self, entry: Entry) -> bool:
        """Record that the change is about to be sent. Return False if it no longer waits for that."""

    async def settle(self, key: str, state: str, link: str = "") -> None:
        """Record the outcome."""

    async def unknown_with(self, digest: str) -> bool:
        """Whether the same change was sent before with an unknown outcome."""

    async def unreported(self, thread_id: str) -> list[Entry]:
        """The changes of a conversation with an unknown outcome that was not reported yet."""

    async def mark_reported(self, key: str) -> None:
        """Record that a change was reported to the user."""


class Sender:
    """Sends changes to one GitHub server, each after an explicit approval.

    Args:
        poster: Sends.
        book: The journal.
        sign_ins: Gets the authorisation of the user in whose name a change is sent; `None` for the shared token's.
    """

    def __init__(self, poster: Poster, book: Book, sign_ins: SignIns | None = None) -> None:
        self._poster, self._sign_ins = poster, sign_ins
        self.journal = book

    async def stop(self) -> None:
        """Close the journal and the connections."""
        await self._poster.stop()
        await self.journal.close()
        if self._sign_ins is not None:
            await self._sign_ins.grants.close()

    async def run(
        self, change: Change, cause: Entry, ask: Ask, owner: str = "", *, begins: Begins = _nobody_asks
    ) -> Record:
        """Ask for approval of a change, and send it if it is approved.

        Args:
            change: What would be sent.
            cause: The tool call, its conversation and its task.
            ask: Asks the user.
            owner: Key of the user's authorisation; empty for an unknown user.
            begins: Called when the change is about to be made, or may have been made before.

        Raises:
            UpstreamRefused: There is no token, the change cannot be shown, or GitHub refused it.
            UpstreamUnavailable: GitHub could not be reached; nothing was sent.
            OutcomeUnknown: It was sent, now or before, and may or may not have arrived.
            StorageError: The journal cannot be read or written; nothing was sent now.
        """
        if self._sign_ins is None and not self._poster.has_token:
            raise UpstreamRefused("Nothing was sent: changes on GitHub need a token; set GITHUB_TOKEN.")
        checked(change)
        asker = Asker(owner, cause.key, cause.thread_id)
        grant = await self._sign_ins.granted(asker, ask) if self._sign_ins is not None else None
        login = grant.login if grant else ""
        question_of(
            change, self._poster.api_url, _TWICE, login
        )  # too long to be asked: nothing is noted then
        entry, new = await self.journal.ask(cause)
        if entry.state != journal.ASKED:
            if entry.state in _MAYBE_MADE:
                begins()
            return report(entry)
        warning = _TWICE if await self.journal.unknown_with(change.digest) else ""
        reply = ask(question_of(change, self._poster.api_url, warning, login).value())
        problem = _NOT_SHOWN if new else _unbound(entry, cause)
        if problem or not approves(reply, change.digest):
            await self.journal.settle(entry.key, journal.DECLINED)
            return _not_sent(change.what, problem or _DECLINED)
        try:
            return await self._send(change, entry, grant.tokens.access if grant else "", begins)
        except AuthorisationEnded:
            if self._sign_ins is not None:
                await self._sign_ins.forget(owner)
            raise

    async def _send(self, change: Change, entry: Entry, token: str, begins: Begins) -> Record:
        if not await self.journal.intend(entry):
            return _not_sent(change.what, "its approval was used already")
        state, link = journal.REFUSED, ""
        try:
            begins()
            state = journal.UNKNOWN  # also when the run is cancelled meanwhile
            made = await self._poster.post(
                change.path, change.what, change.body, linked=change.linked, token=token
            )
            state, link = journal.DONE, text(made) or ""
        except OutcomeUnknown:
            log.warning("github.change_unknown", digest=change.digest)
        except (UpstreamRefused, UpstreamUnavailable):
            state = journal.REFUSED
            raise
        finally:
            await asyncio.shield(self._settle(entry, state, link))
        return report(replace(entry, state=state, link=link))

    async def _settle(self, entry: Entry, state: str, link: str) -> None:
        """Record the outcome. If that fails, the change stays intended and is later reported as unknown; this run reports what it knows."""
        try:
            await self.journal.settle(entry.key, state, link)
        except StorageError as error:
            log.warning("github.change_not_settled", digest=entry.digest, state=state, code=error.code)


def report(entry: Entry) -> Record:
    """The outcome of a change as the tool's result.

    Raises:
        OutcomeUnknown: GitHub did not say.
    """
    if entry.state == journal.DONE:
        item = {"what": entry.what, "state": "sent"}
        return Record(kind=_KIND, item=item, note="It was approved and sent.", source=entry.link or None)
    if entry.state in {journal.UNKNOWN, journal.INTENDED}:
        raise OutcomeUnknown(unknown_sentence(entry))
    return _not_sent(entry.what, _DECLINED if entry.state == journal.DECLINED else "GitHub did not take it")


def unknown_sentence(entry: Entry) -> str:
    """The sentence for the user about a change with an unknown outcome."""
    return (
        f"GitHub did not confirm {entry.what}: it may have arrived on GitHub or not. "
        "It was not sent again. Look at GitHub before asking for it once more."
    )


def _not_sent(what: str, why: str) -> Record:
    note = f"Nothing was sent: {why}."
    return Record(kind=_KIND, item={"what": what, "state": "not sent"}, note=note)


def _unbound(entry: Entry, cause: Entry) -> str:
    """Why an answer does not apply to this change; empty if it does."""
    if entry.task_id != cause.task_id:
        return "the answer belongs to another task than the question"
    return "" if entry.digest == cause.digest else "it is not what was shown"
