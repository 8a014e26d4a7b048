"""Answers to the page that were given at once, and come when a test says so."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Page

_HOLD = """(part) => {
  const real = window.fetch;
  window.fetch = async (input, init) => {
    const answer = await real(input, init);
    if (window.release || !String(input.url ?? input).includes(part)) return answer;
    const body = await answer.text();
    await new Promise((done) => { window.release = done; console.log("held"); });
    const late = new Response(body, { status: answer.status, headers: answer.headers });
    late.json = async () => {
      setTimeout(() => console.log("heard"));
      return JSON.parse(body);
    };
    return late;
  };
}"""


class Late:
    """The next answer of an address that has `part` in it."""

    def __init__(self, page: Page, part: str) -> None:
        self._page = page
        page.evaluate(_HOLD, part)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Ends once the agent has given it, which the page does not hear yet."""
        with self._page.expect_console_message(lambda message: message.text == "held"):
            yield

    def comes(self) -> None:
        """The page hears it, and has done with it what it does."""
        with self._page.expect_console_message(lambda message: message.text == "heard"):
            self._page.evaluate("window.release()")
        self._page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
