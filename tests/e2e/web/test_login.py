"""A login on the page at the OpenID provider whose tokens the agent takes: authorization code with PKCE."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, Route, expect

from tests.e2e.agents.peers import Keys
from tests.e2e.web.chromium import SECONDS, Tab
from tests.e2e.web.login_provider import CLIENT, LoginProvider, login_provider
from tests.e2e.web.test_arrival import CALLER
from tests.e2e.web.test_lost_line import LISTED, SENT, gateway_fails
from tests.e2e.web.test_service import complaints
from tests.e2e.web.threaded import in_thread
from utils.auth.authenticator import Authenticator
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel

pytestmark = [
    pytest.mark.servers,
    pytest.mark.timeout(300),
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"),
]
expect.set_options(timeout=SECONDS)


@dataclass(frozen=True)
class Scene:
    """An agent that takes tokens of a provider, and the same agent without a login on its page."""

    url: str
    without: str
    provider: LoginProvider


@asynccontextmanager
async def _scene(home: Path) -> AsyncIterator[Scene]:
    async with AsyncExitStack() as stack:
        provider = await stack.enter_async_context(login_provider("keys"))
        defaults = Authenticator.__init__.__kwdefaults__ or {}
        stack.enter_context(pytest.MonkeyPatch.context()).setitem(defaults, "clock", provider.clock)
        oidc = {
            "AUTH_MODE": "oidc",
            "AUTH_ISSUERS": provider.url,
            "AUTH_LEEWAY_SECONDS": "0",
            "EMBEDDINGS_PROVIDER": "none",
        }
        urls = []
        for name, more in {"with": {"WEB_CLIENT_ID": CLIENT}, "without": {}}.items():
            model = ScriptedModel.of(*["Good day."] * 20)
            agent = running_agent(Keys, environ=oidc | more, model=model, home=home / name)
            urls.append(await stack.enter_async_context(agent))
        yield Scene(urls[0], urls[1], provider)


@pytest.fixture(scope="module")
def shared_scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    home = tmp_path_factory.mktemp("login")
    with in_thread(lambda: _scene(home)) as found:
        yield found


@pytest.fixture
def scene(shared_scene: Scene) -> Scene:
    provider = shared_scene.provider
    provider.ahead, provider.refuses, provider.renews = 0, False, True
    for told in (provider.asked, provider.exchanges, provider.issued):
        told.clear()
    return shared_scene


def opened(scene: Scene, open_tab) -> Tab:
    tab: Tab = open_tab(scene.url)
    tab.expected = ("401",)
    tab.origins += (scene.provider.url,)
    return tab


def log_in(page: Page) -> None:
    page.get_by_role("button", name="Log in").click()
    page.get_by_role("link", name="I am Ann").click()
    expect(page.get_by_label("Message", exact=True)).to_be_visible()


def test_a_person_logs_in_at_the_provider_and_no_token_is_stored(scene, open_tab):
    tab = opened(scene, open_tab)
    page = tab.page
    expect(page.get_by_role("button", name="Log in")).to_be_focused()
    assert complaints(page) == []
    log_in(page)
    (asked,) = scene.provider.asked
    assert asked["scope"] == "openid offline_access agent:keys:use agent:keys:approve"
    assert page.url == f"{scene.url}/"
    tab.ask("Hello.")
    expect(page.get_by_text("Good day.")).to_be_visible()
    stored = page.evaluate(
        "JSON.stringify({ ...sessionStorage, ...localStorage }) + document.cookie + location.href"
    )
    assert scene.provider.issued
    assert [each for each in scene.provider.issued if each in stored] == []
    conversation = page.url
    page.reload()
    log_in(page)
    assert page.url == conversation
    expect(page.get_by_text("Good day.")).to_be_visible()
    assert scene.provider.exchanges == ["authorization_code"] * 2


def test_a_token_is_renewed_before_it_ends(scene, open_tab):
    tab = opened(scene, open_tab)
    page = tab.page
    page.clock.install()
    log_in(page)
    with page.expect_response(lambda answer: "refresh_token" in (answer.request.post_data or "")):
        page.clock.fast_forward(280_000)
    with page.expect_request("**/rest/message:stream") as sent:
        tab.ask("Hello again.")
    expect(page.get_by_text("Good day.")).to_be_visible()
    first, second = (each for each in scene.provider.issued if each.count(".") == 2)
    assert sent.value.headers["authorization"] == f"Bearer {second}" != f"Bearer {first}"
    expect(page.get_by_role("button", name="Log in")).to_have_count(0)


def test_what_was_sent_after_a_login_ended_is_answered_after_the_next_one(scene, open_tab):
    scene.provider.renews = False
    tab = opened(scene, open_tab)
    tab.expected = ("401", "400")
    page = tab.page
    log_in(page)
    page.get_by_label("Message", exact=True).fill("Hello after the end.")
    scene.provider.ahead = 400
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("Your login has ended. Log in again.")
    log_in(page)
    expect(page.get_by_text("Good day.")).to_be_visible()
    expect(page.locator(".bubble")).to_have_text("Hello after the end.")


def test_a_provider_that_was_away_when_a_token_was_to_be_renewed_is_asked_again(scene, open_tab):
    tab = opened(scene, open_tab)
    tab.expected = ("401", "503")
    page = tab.page
    page.clock.install()
    log_in(page)
    tokens = f"{scene.provider.url}/token"
    page.route(tokens, lambda route: route.fulfill(status=503, body="soon"))
    with page.expect_response(lambda answer: answer.status == 503):
        page.clock.fast_forward(280_000)
    page.unroute(tokens)
    with page.expect_response(lambda answer: "refresh_token" in (answer.request.post_data or "")) as renewed:
        page.clock.fast_forward(20_000)
    assert renewed.value.status == 200
    expect(page.get_by_role("button", name="Log in")).to_have_count(0)


def test_a_login_that_was_refused_or_not_begun_here_says_so_and_gets_no_token(scene, open_tab):
    tab = opened(scene, open_tab)
    page = tab.page
    scene.provider.refuses = True
    page.get_by_role("button", name="Log in").click()
    page.get_by_role("link", name="I am Ann").click()
    expect(page.get_by_role("alert")).to_have_text("The provider says that the login was refused.")
    page.goto(f"{scene.url}/?code=stolen&state=guessed")
    expect(page.get_by_role("alert")).to_have_text("This login was not begun in this tab. Log in again.")
    assert page.url == f"{scene.url}/"
    assert scene.provider.exchanges == []


def test_the_page_may_reach_the_provider_only_where_a_login_is_set_up(scene):
    policies = [
        httpx.get(url, headers={"Accept": "text/html"}, trust_env=False).headers["content-security-policy"]
        for url in (scene.url, scene.without)
    ]
    assert f"connect-src 'self' {scene.provider.url};" in policies[0]
    assert "connect-src 'self';" in policies[1]
    assert scene.provider.url not in policies[1]


def test_without_a_login_set_up_the_page_asks_for_a_token(scene, open_tab):
    tab = open_tab(scene.without)
    tab.expected = ("401",)
    page = tab.page
    expect(page.get_by_label("Key or access token")).to_be_visible()
    expect(page.get_by_role("button", name="Log in")).to_have_count(0)


def test_a_message_that_was_sent_before_the_agent_asked_for_a_login_is_sent_after_it(scene, open_tab):
    tab = opened(scene, open_tab)
    page = tab.another()
    held: list[Route] = []
    page.route(
        CALLER, lambda route: held.append(route), times=1
    )  # so that the page does not learn from either at once
    page.route(LISTED, lambda route: route.abort())
    tab.expected += ("net::ERR",)
    page.goto(scene.url)
    page.get_by_label("Message", exact=True).fill("Sent too early.")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Log in")).to_be_visible()
    held.pop().continue_()
    page.unroute(LISTED)
    log_in(page)
    expect(page.locator(".bubble")).to_have_text("Sent too early.")
    expect(page.get_by_text("Good day.")).to_be_visible()


def test_a_token_that_is_renewed_late_does_not_replace_the_key_of_whoever_came_meanwhile(scene, open_tab):
    tab = opened(scene, open_tab)
    tab.expected = ("401", "503")
    page = tab.page
    page.clock.install()
    log_in(page)
    tokens = f"{scene.provider.url}/token"
    page.route(tokens, lambda route: route.fulfill(status=503, body="soon"))
    with page.expect_response(lambda answer: answer.status == 503):
        page.clock.fast_forward(280_000)
    page.route(SENT, lambda route: route.fulfill(status=401, body="over"), times=1)
    tab.ask("Hello from Ann.")
    page.get_by_text("Enter a token instead").click()
    bobs = scene.provider.access("bob")
    page.get_by_label("Key or access token").fill(bobs)
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Begin a new one").click()
    page.unroute(tokens)
    page.clock.fast_forward(20_000)
    with page.expect_request(SENT) as sent:
        tab.ask("Hello from Bob.")
    expect(page.get_by_text("Good day.")).to_be_visible()
    assert sent.value.headers["authorization"] == f"Bearer {bobs}"
    assert scene.provider.exchanges == ["authorization_code"]


def test_an_agent_that_could_not_say_where_people_log_in_is_asked_again(scene, open_tab):
    tab = opened(scene, open_tab)
    tab.expected += ("502",)
    page = tab.page
    page.route("**/page/login.json", gateway_fails)
    page.reload()
    expect(page.get_by_label("Key or access token")).to_be_visible()
    page.unroute("**/page/login.json")
    expect(page.get_by_role("button", name="Log in")).to_be_visible()
