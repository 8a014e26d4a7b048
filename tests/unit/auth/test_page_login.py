"""How the page learns where people log in, from the settings of its agent."""

from __future__ import annotations

import pytest

from utils.a2a_common.server.http.page_login import PageLogin, page_login
from utils.auth.settings import AuthSettings
from utils.errors import SettingsError
from utils.web.settings import WebSettings

ISSUER = "https://login.example.com/realms/team"


def made(**environ: str) -> PageLogin | None:
    return page_login(WebSettings.load(environ), AuthSettings.load(environ), "keys")


def test_without_a_client_there_is_no_login():
    assert made(AUTH_MODE="oidc", AUTH_ISSUERS=ISSUER) is None


def test_the_first_provider_is_asked_to_use_the_agent_and_to_approve():
    found = made(AUTH_MODE="oidc", AUTH_ISSUERS=f"{ISSUER},https://b.example.com", WEB_CLIENT_ID="page")
    assert found == PageLogin(ISSUER, "page", "openid offline_access agent:keys:use agent:keys:approve")


def test_other_scopes_take_the_place_of_the_usual_ones():
    found = made(
        AUTH_MODE="oidc", AUTH_ISSUERS=ISSUER, WEB_CLIENT_ID="page", WEB_SCOPES=" openid  api://x/.default "
    )
    assert found is not None
    assert found.scope == "openid api://x/.default"


@pytest.mark.parametrize(
    ("issuer", "origin"),
    [
        (ISSUER, "https://login.example.com"),
        ("https://user:word@login.example.com:8443/x;script-src *", "https://login.example.com:8443"),
        ("http://[::1]:9000/a", "http://[::1]:9000"),
    ],
)
def test_the_policy_of_the_page_names_the_origin_of_the_provider_alone(issuer, origin):
    assert PageLogin(issuer, "page", "").origin == origin


@pytest.mark.parametrize(
    ("environ", "named"),
    [
        ({}, "needs AUTH_MODE=oidc"),
        ({"AUTH_MODE": "api-key"}, "needs AUTH_MODE=oidc"),
        ({"AUTH_MODE": "oidc", "AUTH_ISSUERS": "http://login.example.com"}, "reached over https"),
    ],
)
def test_a_client_without_a_provider_is_refused_with_what_to_set(environ, named):
    with pytest.raises(SettingsError, match=named) as raised:
        made(WEB_CLIENT_ID="page", **environ)
    assert raised.value.variable == "WEB_CLIENT_ID"
