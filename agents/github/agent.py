"""The GitHub agent: tools and a prompt on `BaseLangGraphAgent`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agents.github.client import GitHubClient
from agents.github.refusal import REFUSAL, refusal
from agents.github.settings import GitHubSettings
from agents.github.tools import SPECS, build_tools
from utils.a2a_common.base_langgraph_agent import BaseLangGraphAgent
from utils.a2a_common.graph.runtime import AgentRuntime
from utils.a2a_common.protocol.request import AgentRequest
from utils.a2a_common.protocol.skill import REFUSED, Skill
from utils.auth.exposure import check_writes
from utils.errors import OutcomeUnknown, SettingsError, StorageError
from utils.events import AgentEvent, Completed, Failed, TextDelta
from utils.persistence.files import StoreFile

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

    from agents.github.authorisation.grant import Cipher
    from agents.github.authorisation.sign_in import SignIns
    from agents.github.authorisation.store import Grants
    from agents.github.changes.journal import Entry
    from agents.github.changes.sender import Book, Sender
    from agents.github.gh.runner import Gh
    from utils.a2a_common.graph.tools.agent_tool import AgentTool
    from utils.persistence.erasure import Personal

_OAUTH = "GITHUB_OAUTH_CLIENT_ID"
_NEEDS_AUTH = (
    "GITHUB_OAUTH_CLIENT_ID needs AUTH_MODE=oidc or api-key: without it, users cannot be told apart. Set AUTH_MODE, or unset "
    "GITHUB_OAUTH_CLIENT_ID."
)
_NEEDS_KEYS = (
    "Authorisations of users are stored in DATABASE_URL, so all replicas need the same GITHUB_OAUTH_KEYS or ENCRYPTION_KEYS: 32 random bytes in "
    "base64url, as `openssl rand -base64 32 | tr '+/' '-_'` prints them."
)
_KEY_FILE = "github-oauth.key"
"""In PLATFORM_ENGINEER_HOME, and so not in the folder of what it encrypts."""

_PROMPTS = {path.stem: path.read_text("utf-8") for path in (Path(__file__).parent / "prompts").glob("*.md")}


def _skills(specs: Iterable[Any]) -> tuple[Skill, ...]:
    return tuple(
        Skill(
            id=spec.name,
            name=spec.name.replace("_", " ").capitalize(),
            description=spec.description,
            examples=spec.examples,
            tags=("github", REFUSED) if spec.name == REFUSAL else ("github",),
        )
        for spec in specs
    )


class GitHubAgent(BaseLangGraphAgent):
    """Answers questions about GitHub. Changes something only with GITHUB_WRITE and the user's approval."""

    name = "github"
    description = (
        "Reads GitHub: repositories, pull requests, issues, commits, branches, files, code, releases, and GitHub Actions "
        "runs with their logs."
    )
    skills = _skills((*SPECS, refusal(write=False)))
    shown_examples = 0  # names and arguments say what a tool does; so many schemas are long enough

    def __init__(self, runtime: AgentRuntime) -> None:
        super().__init__(runtime)
        self._settings = GitHubSettings.load(runtime.environ)
        if self._settings.app_id is not None:
            from agents.github.app import check_app

            check_app(self._settings)
        self._github = GitHubClient(self._settings)
        if self._settings.write:
            from agents.github.changes.tools import CHANGES

            check_writes("GITHUB_WRITE", runtime.settings.server.host, runtime.settings.auth)

            if self._settings.oauth_client_id and not runtime.settings.auth.on:
                raise SettingsError(_OAUTH, _NEEDS_AUTH)
            self.skills = _skills((*SPECS, *CHANGES, refusal(write=True)))

    def system_prompt(self) -> str:
        """The text of `prompts/system.md`, with sections for the tools that settings add."""
        names = ["system", "write" if self._settings.write else "read_only", *(["gh"] if self._gh else [])]
        return "\n".join(_PROMPTS[name] for name in names)

    async def tools(self) -> Sequence[BaseTool | AgentTool]:
        """All tools, which share one client; tools that a subclass marks with `@agent_tool` are among them."""
        found = [*await super().tools(), *build_tools(self._github)]
        if self._settings.write:
            from agents.github.changes.tools import CHANGES

            await self._sender.journal.open()
            found += [spec.bind(self._sender) for spec in CHANGES]
            if self._sign_ins is not None:
                from agents.github.authorisation.tools import forget_tool
                from agents.github.changes.tools import asker_of

                await self._sign_ins.grants.open()
                found.append(forget_tool(self._sign_ins, asker_of))
        found.append(refusal(write=self._settings.write).bind(self._github))
        if self._gh:
            from agents.github.gh.tool import gh_tool

            found.append(gh_tool(self._gh))
        return found

    async def stream(self, request: AgentRequest) -> AsyncGenerator[AgentEvent, None]:
        """Run one request; reports a change of an earlier one with an unknown outcome, once."""
        unreported = await self._unreported(request)
        async with aclosing(super().stream(request)) as events:
            async for event in events:
                if isinstance(event, Completed):
                    for entry in unreported:
                        from agents.github.changes.sender import unknown_sentence

                        yield TextDelta(f"\n\n> {unknown_sentence(entry)}")
                        await self._sender.journal.mark_reported(entry.key)
                elif (
                    isinstance(event, Failed) and event.code == OutcomeUnknown.code
                ):  # which tells of its own
                    await self._tell_own(request)
                yield event

    async def _tell_own(self, request: AgentRequest) -> None:
        """Mark the changes with an unknown outcome as reported by the end of the turn. If that fails, they are reported again later."""
        with suppress(StorageError):
            for entry in await self._unreported(request, own=True):
                await self._sender.journal.mark_reported(entry.key)

    async def _unreported(self, request: AgentRequest, *, own: bool = False) -> list[Entry]:
        """The changes with an unknown outcome that were not reported to the user: of this task, or of earlier ones."""
        if not self._settings.write:
            return []
        found = await self._sender.journal.unreported(request.thread_id)
        return [entry for entry in found if (entry.task_id == request.task_id) is own]

    async def delete_conversation(self, thread_id: str, task_ids: Sequence[str]) -> None:
        """Delete what is kept of a conversation, its changes at GitHub included."""
        await super().delete_conversation(thread_id, task_ids)
        if self._settings.write:
            await self._sender.journal.delete(thread_id)
        if self._sign_ins is not None:
            await self._sign_ins.grants.delete(thread_id)

    @classmethod
    def personal(cls, tenant: str, person: str) -> Sequence[Personal]:
        """The authorisation of a person."""
        from agents.github.authorisation.grant import owner_key
        from utils.persistence.erasure import Personal
        from utils.persistence.owned_tables import Table

        table = Table(StoreFile.AUTHORISATIONS, "authorisations", "github_authorisations", "owner")
        return [Personal("authorisations at GitHub", table, owner_key(tenant, person))]

    async def stop(self) -> None:
        """Close the connections to GitHub and the journal of changes."""
        await self._github.stop()
        if self._settings.write:
            await self._sender.stop()

    @cached_property
    def _sender(self) -> Sender:
        from agents.github.changes.post import Poster
        from agents.github.changes.sender import Sender

        return Sender(Poster(self._settings), self._journal(), self._sign_ins)

    @cached_property
    def _sign_ins(self) -> SignIns | None:
        """Gets the authorisations of users; `None` where changes are made with the shared token."""
        if not self._settings.write or not self._settings.oauth_client_id:
            return None
        from agents.github.authorisation.grant import Cipher
        from agents.github.authorisation.sign_in import SignIns

        return SignIns(self._settings, self._grants(Cipher(self._oauth_keys())))

    def _grants(self, cipher: Cipher) -> Grants:
        if self.runtime.database is not None:
            from agents.github.authorisation.store_postgres import PostgresGrants

            return PostgresGrants(self.runtime.database, cipher)
        from agents.github.authorisation.store import FileGrants

        return FileGrants(self.runtime.folder / StoreFile.AUTHORISATIONS, cipher)

    def _oauth_keys(self) -> list[str]:
        """Those of GITHUB_OAUTH_KEYS, else those that all is encrypted with, with that of a file behind them."""
        from base64 import urlsafe_b64encode

        from utils.auth.secret_file import secret_in

        if self._settings.oauth_keys is not None:
            return [key.strip() for key in self._settings.oauth_keys.get_secret_value().split(",")]
        keys, file = list(self.runtime.codec.keys), self.runtime.settings.home.home / _KEY_FILE
        if self.runtime.database is not None and not keys:
            raise SettingsError("GITHUB_OAUTH_KEYS", _NEEDS_KEYS)
        if self.runtime.database is None and (not keys or file.exists()):
            keys.append(urlsafe_b64encode(secret_in(file)).decode())
        return keys

    def _journal(self) -> Book:
        from agents.github.changes.encrypted import EncryptedJournal

        return EncryptedJournal(self._plain_journal(), self.runtime.codec)

    def _plain_journal(self) -> Book:
        if self.runtime.database is not None:
            from agents.github.changes.journal_postgres import PostgresJournal

            return PostgresJournal(self.runtime.database)
        from agents.github.changes.journal import Journal

        return Journal(self.runtime.folder / StoreFile.CHANGES)

    @cached_property
    def _gh(self) -> Gh | None:
        if not self._settings.use_gh:
            return None
        from agents.github.gh.runner import find_gh

        return find_gh(self._settings, self.runtime.environ)
