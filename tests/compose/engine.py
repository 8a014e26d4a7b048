"""A Docker engine and a base image: those that are there, else ones of our own.

Without an engine `dockerd` is started by hand, with its own data and socket, and ended by its process. Where no
registry answers, the base image is made with debootstrap from the machine's own mirror. Both need root and Debian's
packages `docker.io` and `debootstrap`.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.compose.tool import CACHE, ROOT, mirror, run

START_SECONDS = 60
OWN_BASE = "platform-engineer-base:bookworm"
BUNDLE = "/etc/ssl/certs/ca-certificates.crt"


@contextlib.contextmanager
def engine() -> Iterator[dict[str, str]]:
    """The variables that lead `docker` to an engine."""
    if _answers(dict(os.environ)):
        yield dict(os.environ)
        return
    assert shutil.which("dockerd"), (
        "no engine answers and there is no dockerd: apt-get install docker.io debootstrap"
    )
    CACHE.mkdir(parents=True, exist_ok=True)
    # A socket's path is short, so that it does not stand in the checkout. A network that the engine leaves
    # mounted there must not hide why it ended.
    with tempfile.TemporaryDirectory(prefix="engine-", ignore_cleanup_errors=True) as folder:
        environ = {**os.environ, "DOCKER_HOST": f"unix://{folder}/docker.sock"}
        with (CACHE / "dockerd.log").open("w") as log:
            process = subprocess.Popen(_dockerd(Path(folder)), stdout=log, stderr=log)
            try:
                _wait(process, environ)
                yield environ
            finally:
                process.terminate()
                process.wait(60)


def base_image(environ: dict[str, str]) -> str:
    """The base of the Dockerfile where a registry has it, else one made here."""
    (line,) = [
        one for one in (ROOT / "Dockerfile").read_text().splitlines() if one.startswith("ARG PYTHON_IMAGE=")
    ]
    wanted = line.partition("=")[2]
    if _quiet(["docker", "pull", "-q", wanted], environ) or _quiet(
        ["docker", "image", "inspect", OWN_BASE], environ
    ):
        return wanted if _quiet(["docker", "image", "inspect", wanted], environ) else OWN_BASE
    return _make_base(environ)


def _make_base(environ: dict[str, str]) -> str:
    print("No registry has the base image: making one with debootstrap (minutes).", flush=True)
    folder = CACHE / "rootfs"
    shutil.rmtree(folder, ignore_errors=True)
    packages = "--include=ca-certificates,python3,python3-venv"
    run(["debootstrap", "--variant=minbase", packages, "bookworm", str(folder), mirror()])
    shutil.copy(BUNDLE, folder / BUNDLE.lstrip("/"))  # what this machine trusts, so that pip works inside
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(folder / "var/cache/apt")
        shutil.rmtree(folder / "var/lib/apt/lists")
    with subprocess.Popen(["tar", "-C", str(folder), "-c", "."], stdout=subprocess.PIPE) as tar:
        command = ["docker", "import", "-c", f"ENV PIP_CERT={BUNDLE}", "-", OWN_BASE]
        subprocess.run(command, stdin=tar.stdout, env=environ, check=True, stdout=subprocess.DEVNULL)
    shutil.rmtree(folder)
    return OWN_BASE


def _dockerd(folder: Path) -> list[str]:
    paths = {
        "data-root": (CACHE / "engine").resolve(),
        "exec-root": folder / "exec",
        "pidfile": folder / "pid",
    }
    return [
        "dockerd",
        "-H",
        f"unix://{folder}/docker.sock",
        *(f"--{name}={path}" for name, path in paths.items()),
    ]


def _wait(process: subprocess.Popen[bytes], environ: dict[str, str]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not _answers(environ):
        tail = "\n".join((CACHE / "dockerd.log").read_text().splitlines()[-5:])
        assert process.poll() is None, f"dockerd ended:\n{tail}"
        assert time.monotonic() < deadline, f"dockerd did not answer:\n{tail}"
        time.sleep(0.5)


def _answers(environ: dict[str, str]) -> bool:
    return shutil.which("docker") is not None and _quiet(["docker", "info"], environ)


def _quiet(command: list[str], environ: dict[str, str]) -> bool:
    return subprocess.run(command, env=environ, capture_output=True, check=False).returncode == 0
