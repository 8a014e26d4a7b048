"""The security section of an agent's card: the credentials that it accepts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from utils.a2a_common.protocol.card_options import CardOptions
from utils.auth.principal import Right, scope_for
from utils.auth.settings import AuthMode, AuthSettings


def with_credentials(options: CardOptions, agent: str, settings: AuthSettings) -> CardOptions:
    """The options with the schemes of AUTH_MODE, any of which a caller needs with the scope to use the agent."""
    if not settings.on:
        return options
    schemes: dict[str, dict[str, Any]] = {
        "platform-engineer": {
            "httpAuthSecurityScheme": {
                "scheme": "bearer",
                "bearerFormat": "API key" if settings.mode is AuthMode.API_KEY else "JWT",
            }
        }
    }
    if settings.mode is AuthMode.OIDC:
        schemes = {
            f"oidc-{number}": {
                "openIdConnectSecurityScheme": {
                    "openIdConnectUrl": f"{issuer.rstrip('/')}/.well-known/openid-configuration"
                }
            }
            for number, issuer in enumerate(settings.issuer_list, 1)
        }
    needed = [{name: [scope_for(agent, Right.USE)]} for name in schemes]
    return replace(
        options,
        security_schemes={**options.security_schemes, **schemes},
        security=[*options.security, *needed],
    )
