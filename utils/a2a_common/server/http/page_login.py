"""Where people log in on the page: at the OpenID provider whose tokens the agent takes."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from utils.auth.discovery import may_be_read
from utils.auth.principal import Right, scope_for
from utils.auth.settings import AuthMode, AuthSettings
from utils.errors import SettingsError
from utils.web.settings import WebSettings

_NEEDS = "WEB_CLIENT_ID needs AUTH_MODE=oidc, and in AUTH_ISSUERS the provider that knows the page."
_PLAIN = "WEB_CLIENT_ID needs a provider that is reached over https; the first of AUTH_ISSUERS is not."


@dataclass(frozen=True, slots=True)
class PageLogin:
    """The page's parameters for a login by authorization code and PKCE; none of them is secret.

    Attributes:
        issuer: The provider, as its tokens name it.
        client_id: The page's client id at the provider: a client without a secret.
        scope: The requested scopes, separated by spaces.
    """

    issuer: str
    client_id: str
    scope: str

    @property
    def origin(self) -> str:
        """The only other origin that the page may reach."""
        parts = urlsplit(self.issuer)
        host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
        return f"{parts.scheme}://{host}" + (f":{parts.port}" if parts.port else "")


def page_login(web: WebSettings, auth: AuthSettings, agent: str) -> PageLogin | None:
    """The login of an agent's page; `None` if users enter a key or a token.

    Raises:
        SettingsError: A client is named, and there is no provider that a browser may reach.
    """
    if not web.client_id:
        return None
    if auth.mode is not AuthMode.OIDC or not auth.issuer_list:
        raise SettingsError("WEB_CLIENT_ID", _NEEDS)
    issuer = auth.issuer_list[0]
    if not may_be_read(issuer, issuer):
        raise SettingsError("WEB_CLIENT_ID", _PLAIN)
    usual = ("openid", "offline_access", scope_for(agent, Right.USE), scope_for(agent, Right.APPROVE))
    return PageLogin(issuer, web.client_id, " ".join((web.scopes or " ".join(usual)).split()))
