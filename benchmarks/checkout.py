"""A fresh checkout as a user has it after installing: this working tree without bytecode, and the locked packages only."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from importlib.metadata import distributions
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = "requirements.lock"
_COMMAND = "#!{python}\nfrom multi_agents.cli.main import main\nmain()\n"


def make_checkout(folder: Path) -> None:
    """Copy the files that git knows or would add, and make an environment in which `make chat` installs nothing."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target)
    _make_environment(folder)


def _make_environment(folder: Path) -> None:
    home = folder / ".venv"
    venv.create(home, with_pip=False, symlinks=True)
    packages = next(home.glob("lib/python*/site-packages"))
    installed = Path(sysconfig.get_path("purelib"))
    for name in _locked_paths():
        if (installed / name).exists():
            (packages / name).symlink_to(installed / name)
    (packages / "project.pth").write_text(f"{folder}\n")
    command = home / "bin" / "platform-engineer"
    command.write_text(_COMMAND.format(python=home / "bin" / "python"))
    command.chmod(0o755)
    (home / "lock-stamp").write_text(_stamp(folder))


def _locked_paths() -> set[str]:
    """What the packages of the users' lock file have put into the environment, at its top level."""
    lock = (ROOT / LOCK).read_text()
    locked = {_normal(match) for match in re.findall(r"^([\w.-]+)==", lock, re.MULTILINE)}
    return {
        file.parts[0]
        for one in distributions()
        if _normal(one.name) in locked
        for file in one.files or ()
        if file.parts[0] != ".."
    }


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _stamp(folder: Path) -> str:
    """What the set-up of that checkout writes when it has installed everything."""
    spec = importlib.util.spec_from_file_location("bootstrap_of_copy", folder / "utils" / "bootstrap.py")
    if spec is None or spec.loader is None:
        sys.exit("The copy has no utils/bootstrap.py.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    stamp: str = module.stamp(LOCK)
    return stamp
