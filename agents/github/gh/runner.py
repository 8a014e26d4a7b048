"""Runs `gh` without a shell, with a clean environment, limited time and output, and no token in arguments or output."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shutil
import signal
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import structlog
from pydantic import SecretStr

from agents.github.settings import GitHubSettings
from utils.errors import ToolTimeout, UpstreamRefused, UpstreamUnavailable

log = structlog.get_logger(__name__)

HEAD, TAIL = 100_000, 900_000
"""Bytes kept from the start and from the end of a longer output."""
_ERROR_BYTES = 4_000
_SENTENCE = 300
_PIECE = 65_536
_UNSEEN = re.compile(r"(?:\x1b|\^\[)\[[0-?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f\ufeff]")
"""Colour codes, whose first character gh writes as two, and invisible characters."""
_TOKENS = re.compile(r"\b(?:gh[a-z]_|github_pat_)[A-Za-z0-9_]{10,}")

_NETWORK = (
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NO_PROXY",
    "https_proxy",
    "http_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
)
"""The only variables of this process that `gh` gets: it may need them to reach GitHub."""
_FIXED = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "GH_PROMPT_DISABLED": "1",
    "GH_NO_UPDATE_NOTIFIER": "1",
    "GH_NO_EXTENSION_UPDATE_NOTIFIER": "1",
    "GH_SPINNER_DISABLED": "1",
    "GH_TELEMETRY": "false",
    "GH_PAGER": "",
    "GH_BROWSER": "/bin/false",
    "GH_EDITOR": "/bin/false",
    "NO_COLOR": "1",
}

_FOLDERS = ("HOME", "GH_CONFIG_DIR", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME")


class Output(NamedTuple):
    """Output of a command. `cut` is set if the middle was dropped."""

    text: str
    cut: bool


@dataclass(frozen=True)
class Gh:
    """The program, and the GitHub server that it uses.

    Attributes:
        program: Its path.
        host: Host name of the GitHub server.
        token: Access token.
        network: Variables for proxies and certificates.
        seconds: Timeout of one command.
    """

    program: str
    host: str
    token: SecretStr
    network: Mapping[str, str]
    seconds: float

    async def run(self, arguments: Sequence[str], repository: str) -> Output:
        """Run a command that `allowed.parse` let through, for one repository.

        Raises:
            UpstreamRefused: It failed; the message is its last line.
            UpstreamUnavailable: It cannot be started.
            ToolTimeout: It took too long and was killed.
        """
        command = [*arguments[:2], f"--repo={self.host}/{repository}", *arguments[2:]]
        with tempfile.TemporaryDirectory(prefix="gh-") as folder:
            return await self._run(command, folder)

    async def _run(self, command: Sequence[str], folder: str) -> Output:
        try:
            process = await asyncio.create_subprocess_exec(
                self.program,
                *command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                cwd=folder,
                env=self.environment(folder),
                start_new_session=True,
            )
        except OSError as error:
            raise UpstreamUnavailable("gh cannot be started on this machine.") from error
        try:
            async with asyncio.timeout(self.seconds):
                output, errors = await asyncio.gather(_read(process.stdout), _read(process.stderr))
                code = await process.wait()
        except TimeoutError as error:
            raise ToolTimeout(
                f"gh did not end within {self.seconds:g} seconds, so it was stopped."
            ) from error
        finally:
            await _end(process)
        if code:
            raise UpstreamRefused(self._sentence(errors.text, code))
        return Output(self.clean(output.text), output.cut)

    def environment(self, folder: str) -> dict[str, str]:
        """The environment of the program; its settings, aliases and caches are in `folder`, which is temporary."""
        secret = self.token.get_secret_value()
        ours = self.host in {"github.com", "github.localhost"} or self.host.endswith(".ghe.com")
        return {
            **self.network,
            **_FIXED,
            **dict.fromkeys(_FOLDERS, folder),
            "GH_HOST": self.host,
            "GH_TOKEN" if ours else "GH_ENTERPRISE_TOKEN": secret,
        }

    def clean(self, text: str) -> str:
        """A text without colours, control characters and the token."""
        shown = _UNSEEN.sub("", text).replace(self.token.get_secret_value(), "[token]")
        return _TOKENS.sub("[token]", shown)

    def _sentence(self, errors: str, code: int) -> str:
        lines = [line.strip() for line in self.clean(errors[:_ERROR_BYTES]).splitlines() if line.strip()]
        said = f' It says: "{lines[0][:_SENTENCE]}"' if lines else ""
        return f"gh ended with an error ({code}).{said}"


def find_gh(settings: GitHubSettings, environ: Mapping[str, str]) -> Gh | None:
    """Find the program on `PATH`; `None`, with a log line, if it or the token is missing."""
    program = shutil.which("gh", path=environ.get("PATH", os.defpath))
    if program is None or settings.token is None:
        log.warning(
            "github.gh_unused", reason="gh is not installed" if program is None else "no GITHUB_TOKEN"
        )
        return None
    network = {name: environ[name] for name in _NETWORK if environ.get(name)}
    host = host_of(settings.api_url)
    return Gh(str(Path(program).absolute()), host, settings.token, network, settings.gh_timeout_seconds)


def host_of(api_url: str) -> str:
    """The host as `gh` names it: github.com for api.github.com, else the server's own name."""
    host = urlsplit(api_url).netloc.rpartition("@")[2].lower()
    return host.removeprefix("api.")


async def _read(stream: asyncio.StreamReader | None) -> Output:
    """Read a stream; the middle of a long one is dropped."""
    assert stream is not None
    head, tail, cut = b"", b"", False
    while piece := await stream.read(_PIECE):
        room = HEAD - len(head)
        head += piece[:room]
        tail += piece[room:] if room > 0 else piece
        if len(tail) > 2 * TAIL:
            tail, cut = tail[-TAIL:], True
    cut = cut or len(tail) > TAIL
    middle = b"\n[...]\n" if cut else b""
    return Output((head + middle + tail[-TAIL:]).decode("utf-8", "replace"), cut)


async def _end(process: asyncio.subprocess.Process) -> None:
    """Kill the program and its children."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()
