"""Copies a text: by the command of this desktop, else by the terminal itself (OSC 52), which also works over ssh."""

from __future__ import annotations

import asyncio
import base64
import shutil
import sys
from collections.abc import Mapping

from utils.settings import own_environment

LARGEST_SEQUENCE = 74_994
"""Bytes that terminals take by OSC 52."""

_BY_DISPLAY = {
    "WAYLAND_DISPLAY": (("wl-copy",),),
    "DISPLAY": (("xclip", "-selection", "clipboard"), ("xsel", "--clipboard", "--input")),
}


async def copy(text: str, environ: Mapping[str, str] | None = None) -> str:
    """Copy it, and return the sentence that says so, or why it was not done."""
    command = _command(own_environment() if environ is None else environ)
    if command is not None and await _given_to(command, text):
        return f"Copied {len(text):,} characters."
    if not sys.stdout.isatty():
        return "There is no clipboard here. /save FILE writes the answer to a file."
    sequence = osc52(text)
    if len(sequence) > LARGEST_SEQUENCE:
        return "The answer is too long for the terminal's clipboard. /save FILE writes it to a file."
    sys.stdout.write(sequence)
    sys.stdout.flush()
    return f"Sent {len(text):,} characters to the terminal's clipboard."


def osc52(text: str) -> str:
    """The sequence by which a terminal sets its clipboard."""
    return f"\x1b]52;c;{base64.b64encode(text.encode()).decode()}\x07"


def _command(environ: Mapping[str, str]) -> tuple[str, ...] | None:
    if environ.get("SSH_CONNECTION"):
        return None  # the clipboard of this machine is not the person's
    choices: list[tuple[str, ...]] = [("pbcopy",)] if sys.platform == "darwin" else []
    choices += [one for name, commands in _BY_DISPLAY.items() if environ.get(name) for one in commands]
    return next((one for one in choices if shutil.which(one[0])), None)


async def _given_to(command: tuple[str, ...], text: str) -> bool:
    nothing = asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.PIPE, stdout=nothing, stderr=nothing
    )
    await process.communicate(text.encode())
    return process.returncode == 0
