"""Sends one change: once, without retries, only to the address that was shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from agents.github.settings import GitHubSettings
from utils.errors import OutcomeUnknown, PlatformError, UpstreamRefused, UpstreamUnavailable

if TYPE_CHECKING:
    import httpx
    from githubkit.exception import GitHubException

    from agents.github.connection import Connection


_CREATED = 201
"""The status that GitHub documents for a comment, an issue and a rerun."""
_UNAUTHORISED = 401
_ENDED = "Nothing was sent: your authorisation at GitHub has ended or was revoked. Ask again to give it anew."
_MOVED = frozenset({301, 302, 307, 308})
"""Redirects of GitHub that ask to send the request elsewhere: nothing was changed."""


class AuthorisationEnded(UpstreamRefused):
    """The user has taken back the authorisation at GitHub, or it has ended."""


class Poster:
    """Sends changes to one GitHub server over its own connections."""

    def __init__(self, settings: GitHubSettings) -> None:
        self._settings = settings
        self._connection: Connection | None = None

    @property
    def has_token(self) -> bool:
        """Whether requests carry a token."""
        return self._settings.has_shared

    @property
    def api_url(self) -> str:
        """Address of the API."""
        return self._settings.api_url

    async def stop(self) -> None:
        """Close the connections."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    async def post(
        self, path: str, what: str, body: Mapping[str, Any], *, linked: bool, token: str = ""
    ) -> str:
        """Send a change.

        Args:
            path: Path of the request.
            what: A noun phrase for the change, for errors.
            body: Its JSON; sent without a body when empty.
            linked: Whether GitHub returns the address of what is created.
            token: Token of the user in whose name it is sent; if it is empty, the shared one.

        Returns:
            The address of what was created, or an empty string.

        Raises:
            UpstreamRefused: GitHub refused it.
            UpstreamUnavailable: GitHub could not be reached, so nothing was sent.
            OutcomeUnknown: It was sent, and may or may not have taken effect.
            AuthorisationEnded: GitHub does not take the user's token any more, so nothing was sent.
        """
        from githubkit.exception import GitHubException, RequestFailed

        from agents.github.connection import Connection

        own = Connection(self._settings, sends=True, token=token) if token else None
        if own is None:
            self._connection = self._connection or Connection(self._settings, sends=True)
        try:
            response = await (own or self._connection).arequest("POST", path, json=dict(body) or None)  # type: ignore[union-attr]
        except GitHubException as error:
            if token and isinstance(error, RequestFailed) and error.response.status_code == _UNAUTHORISED:
                raise AuthorisationEnded(_ENDED) from error
            raise _outcome(error, what, has_token=bool(token) or self.has_token) from error
        finally:
            if own is not None:
                await own.close()
        if response.status_code in _MOVED:
            raise UpstreamRefused(
                f"Nothing was sent: GitHub has moved where {what} would go. Use the new name."
            )
        link = _confirmed(response.raw_response, linked=linked)
        if link is None:
            raise OutcomeUnknown(f"GitHub did not say whether it took {what}.")
        return link


def _outcome(error: GitHubException, what: str, *, has_token: bool) -> PlatformError:
    import httpx
    from githubkit.exception import RateLimitExceeded, RequestError, RequestFailed

    from agents.github.faults import platform_error

    refused = isinstance(error, RateLimitExceeded) or (
        isinstance(error, RequestFailed) and not error.response.is_server_error
    )
    if refused:
        return platform_error(error, what, has_token=has_token)
    cause = error.exc if isinstance(error, RequestError) else None
    if isinstance(cause, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout):
        return UpstreamUnavailable("GitHub cannot be reached, so nothing was sent. Try again later.")
    return OutcomeUnknown(f"GitHub did not say whether it took {what}.")


def _confirmed(response: httpx.Response, *, linked: bool) -> str | None:
    """The address of what was created or an empty string; `None` if the response is not one of GitHub's to a change.

    For example, the sign-in page of a proxy has status 200 and is not JSON.
    """
    import json

    if response.status_code != _CREATED:
        return None
    try:
        made = json.loads(response.content or b"{}")
    except (ValueError, RecursionError):
        return None
    link = made.get("html_url", "") if isinstance(made, dict) else None
    if not isinstance(link, str) or (linked and not link):
        return None
    return link
