"""Creates the virtual environment: run by the Makefile with any Python 3.11+, before anything is installed.

    python3 -I utils/bootstrap.py requirements.lock

Standard library only. Does nothing when the environment already matches the lock file. Installs
wheels only, each checked against the hash in the lock; with uv if it is installed, else with pip.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
OLDEST = (3, 11)
INSTALL_FAILED = (
    "Installing failed: see the lines above. The package index must be reachable; then try again."
)


class SetupError(Exception):
    """The environment cannot be made; the message says what to do."""


def main(lock: str) -> int:
    """Bring `.venv` up to date with a lock file. Returns the exit code."""
    started = time.monotonic()
    try:
        check_python()
        with (ROOT / ".venv.lock").open("w") as guard:
            fcntl.flock(guard, fcntl.LOCK_EX)
            if is_current(lock):
                return 0
            install(lock)
    except SetupError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("\nSet-up was interrupted; the next run goes on.\n")
        return 130
    say(f"Ready after {time.monotonic() - started:.0f} s.")
    return 0


def check_python() -> None:
    """Refuse a Python that is too old, and say what to do."""
    if sys.version_info < OLDEST:
        found = ".".join(map(str, sys.version_info[:2]))
        raise SetupError(
            f"Python 3.11 or newer is needed, this is {found}. Name one: make PYTHON=python3.12 …"
        )


def stamp(lock: str) -> str:
    """The stamp of an environment made from this lock."""
    content = (ROOT / lock).read_bytes() + (ROOT / "pyproject.toml").read_bytes()
    return f"{sys.version_info[:2]} {ROOT} {hashlib.sha256(content).hexdigest()}"


def is_current(lock: str) -> bool:
    """Whether the environment was made from this lock, or from the developers' one, which includes it."""
    wanted = {stamp(name): name for name in dict.fromkeys((lock, "requirements-dev.lock"))}
    file = VENV / "lock-stamp"
    return (VENV / "bin" / "python").exists() and file.is_file() and file.read_text() in wanted


def install(lock: str) -> None:
    """Make the environment and install the locked packages and the project itself."""
    (VENV / "lock-stamp").unlink(missing_ok=True)
    uv = shutil.which("uv")
    packages = sum("==" in line for line in (ROOT / lock).read_text().splitlines())
    say(f"Setting up {packages} packages with {'uv' if uv else 'pip'}. This happens once.")
    make_venv(uv)
    python = str(VENV / "bin" / "python")
    # Compiled here once, as pip does by default; else the first start of each program would do it.
    with_uv = [uv, "pip", "install", "--compile-bytecode", "--python", python]
    pip = with_uv if uv else [python, "-m", "pip", "install"]
    quiet = ["-q"] if uv else ["-q", "--disable-pip-version-check", "--no-input"]
    # The lock is complete, so nothing needs resolving; older versions of pip fail on extras when they resolve.
    options = ["--no-deps", "--require-hashes", "--only-binary", ":all:", "-r", str(ROOT / lock)]
    if uv:
        run([*pip, *options])  # shows its own progress
    else:
        run_counting([*pip, *quiet[1:], *options], total=packages)
    run([*pip, *quiet, "--no-deps", "--no-build-isolation", "-e", str(ROOT)])
    (VENV / "lock-stamp").write_text(stamp(lock))


def make_venv(uv: str | None) -> None:
    """Create an empty environment, replacing one that is broken or of another Python."""
    if uv:
        run([uv, "venv", "-q", "--clear", "--python", sys.executable, str(VENV)])
        return
    if importlib.util.find_spec("ensurepip") is None:
        version = ".".join(map(str, sys.version_info[:2]))
        raise SetupError(
            "This Python cannot make virtual environments with pip; on Debian and Ubuntu install them with:"
            f" apt-get install python{version}-venv"
        )
    run([sys.executable, "-m", "venv", "--clear", str(VENV)])


def run(command: list[str]) -> None:
    """Run one step; its own output is the progress and the explanation."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    if subprocess.run(command, check=False, cwd=ROOT, env=environment).returncode:  # noqa: S603
        raise SetupError(INSTALL_FAILED)


def run_counting(command: list[str], total: int) -> None:
    """Run pip and show how many packages it has looked at; its warnings and errors pass through."""
    count = 0
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
        for line in process.stdout or ():
            if line.startswith("Collecting "):
                count += 1
                if count % 20 == 0 or count == total:
                    say(f"  {count} of {total} packages fetched")
            elif line.startswith("Installing collected"):
                say("  installing")
    if process.returncode:
        raise SetupError(INSTALL_FAILED)


def say(text: str) -> None:
    """Print a progress line to standard error, so that standard output holds results only."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "requirements.lock"))
