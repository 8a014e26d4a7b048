"""The pictures of the documents show what the chat shows."""

from __future__ import annotations

import subprocess
import sys

import pytest

from docs.make_pictures import Screen
from tests.docs.checkout import Checkout


@pytest.mark.long
@pytest.mark.processes
@pytest.mark.timeout(600)  # a service of three processes starts and answers
def test_each_picture_shows_what_the_chat_writes_to_a_terminal_today(tmp_path):
    checkout = Checkout.make(tmp_path / "checkout")
    done = subprocess.run(
        [sys.executable, "-m", "docs.make_pictures", "--check"],
        cwd=checkout.folder,
        env=checkout.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_line_that_was_erased_and_written_again_is_shown_once():
    screen = Screen()
    screen.feed("working\r\nalmost\r\x1b[2K\x1b[1A\x1b[2Kdone\r\n\x1b[32mgreen\x1b[0m")
    assert screen.lines == ["done", "\x1b[32mgreen\x1b[0m"]
