"""Where output goes: answers to standard output, everything else to standard error, no colour in pipes."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from functools import lru_cache
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from multi_agents.cli.streams import takes_all_text

if TYPE_CHECKING:
    from rich.console import Console

_UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_SURROGATE = re.compile("[\ud800-\udfff]")
PIPE_WIDTH = 160


def is_text(text: str) -> bool:
    """Whether what was typed or given is text; bytes that are none come from the system as lone surrogates."""
    return _SURROGATE.search(text) is None


def clean(text: str) -> str:
    """Text of a peer without characters that steer a terminal; tabs and line ends stay."""
    return _UNSAFE.sub("", text.replace("\r\n", "\n"))


def one_line(text: str, limit: int = 100) -> str:
    """The text on one line of at most `limit` characters."""
    flat = " ".join(clean(text).split())
    return flat if len(flat) <= limit else f"{flat[: limit - 1]}…"


@lru_cache(maxsize=1)
def out() -> Console:
    """The console of standard output."""
    return _console(to_stderr=False)


@lru_cache(maxsize=1)
def err() -> Console:
    """The console of standard error."""
    return _console(to_stderr=True)


def say(text: str, *, to_copy: bool = False) -> None:
    """A plain line for the person, on standard error.

    A terminal gets it wrapped between words. A line with a command `to_copy` is left to the terminal, which wraps it
    without a line end in the copy.
    """
    console, shown = err(), clean(text)
    if console.is_terminal and not to_copy:
        shown = "\n".join(_wrapped(line, console.width) for line in shown.splitlines())
    console.print(shown, markup=False, highlight=False, soft_wrap=True)


def _wrapped(line: str, width: int) -> str:
    """The line in pieces that fit; a word that is longer than the screen, such as an address, stays whole."""
    if len(line) <= width:
        return line
    indent = line[: len(line) - len(line.lstrip())]
    return "\n".join(
        wrap(line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    )


def print_json(value: Mapping[str, Any] | list[Any]) -> None:
    """One JSON value on one line of standard output, at once."""
    sys.stdout.write(json.dumps(value, ensure_ascii=not takes_all_text(sys.stdout)) + "\n")
    sys.stdout.flush()


def _console(*, to_stderr: bool) -> Console:
    from rich.console import Console

    terminal = (sys.stderr if to_stderr else sys.stdout).isatty()
    return Console(stderr=to_stderr, force_terminal=terminal, width=None if terminal else PIPE_WIDTH)
