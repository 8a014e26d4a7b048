"""`doctor`'s check of the identity providers: whether each answers with its keys."""

from __future__ import annotations

from collections.abc import Mapping

from multi_agents.cli.console import one_line
from multi_agents.cli.model.finding import Finding, Level
from utils.auth.settings import AuthMode, AuthSettings

SILENT = (
    "{issuer} does not answer with its keys at /.well-known/openid-configuration: nobody with a token of it is let in. See that "
    "AUTH_ISSUERS has the address that tokens name, and that it can be reached from here."
)


async def check_issuers(environ: Mapping[str, str]) -> list[Finding]:
    """Each provider of AUTH_ISSUERS; none if callers do not log in at one."""
    settings = AuthSettings.load(environ)
    if settings.mode is not AuthMode.OIDC:
        return []
    from utils.auth.discovery import fetched_json
    from utils.auth.jwks import Jwks
    from utils.auth.refusal import AuthRefused

    found = []
    for issuer in settings.issuer_list:
        try:
            keys = await Jwks(issuer, fetch=fetched_json).keys("")
        except AuthRefused:
            found.append(Finding("callers", Level.WRONG, SILENT.format(issuer=one_line(issuer))))
        else:
            found.append(Finding("callers", Level.OK, f"{one_line(issuer)} answers, with {len(keys)} keys"))
    return found
