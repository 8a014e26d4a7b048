"""The licence files are there, name what is there, and go into the image."""

from __future__ import annotations

import re
from pathlib import Path

from tests.release.result import Result
from tests.release.versions import project_of

LICENCE = "Apache-2.0"
FIRST_LINE = "Apache License"
FILES = ("LICENSE", "NOTICE")
NAMED = re.compile(r"\butils/[\w./*-]*[\w*/]")
"""What NOTICE says is the work of others."""


def check_licences(root: Path) -> Result:
    """The files, what `pyproject.toml` says of them, and the image's copies."""
    missing = [name for name in FILES if not (root / name).is_file() or not (root / name).stat().st_size]
    if missing:
        return Result(problems=[f"{name} is missing or empty; restore it" for name in missing])
    notice = set(NAMED.findall((root / "NOTICE").read_text("utf-8")))
    gone = sorted(name for name in notice if not any(root.glob(name)))
    copied = re.findall(r"^COPY (.+) \S+$", (root / "Dockerfile").read_text("utf-8"), re.MULTILINE)
    sent = (root / ".dockerignore").read_text("utf-8").splitlines()
    problems = [
        *(f"NOTICE names {name}, which is not there; correct NOTICE" for name in gone),
        *(
            f"{name} does not go into the image; add it to COPY in Dockerfile and to .dockerignore"
            for name in FILES
            if f"!{name}" not in sent or not any(name in words.split() for words in copied)
        ),
    ]
    if (said := project_of(root).get("license")) != LICENCE:
        problems.append(f"pyproject.toml: the licence is {said}; write {LICENCE}, as LICENSE has it")
    if FIRST_LINE not in (root / "LICENSE").read_text("utf-8"):
        problems.append(f"LICENSE holds another text than that of {LICENCE}; restore it")
    return Result(f"{' and '.join(FILES)}, and all that NOTICE names is there", problems)
