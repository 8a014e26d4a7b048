"""Fetches a current `docker-compose`, which needs no engine to check a file; kept under `.cache/compose`.

It comes as Debian's package of the release after bookworm, from the mirror that this machine's own apt sources name.
"""

from __future__ import annotations

import fcntl
import platform
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
CACHE = ROOT / ".cache" / "compose"
BINARY = CACHE / "root" / "usr" / "libexec" / "docker" / "cli-plugins" / "docker-compose"
RELEASE = "trixie"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


@cache
def compose() -> Path:
    """The binary, fetched if need be. One process fetches, others wait for it."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)
        if not BINARY.is_file():
            _fetch()
    return BINARY


def mirror() -> str:
    """Where this machine gets Debian from, as its sources say.

    Raises:
        AssertionError: It gets Debian from nowhere.
    """
    release = platform.freedesktop_os_release()["VERSION_CODENAME"]
    listed = run(
        ["apt-get", "indextargets", "--format", "$(SITE) $(RELEASE) $(COMPONENT)", "Created-By: Packages"]
    )
    sites = [site for site, *rest in map(str.split, listed.splitlines()) if rest == [release, "main"]]
    assert sites, "the apt sources of this machine name no Debian mirror"
    return sites[0]


def run(command: list[str], **options: str | dict[str, str]) -> str:
    """The output of a command that must succeed."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]
    assert done.returncode == 0, f"{' '.join(command)}:\n{done.stdout}{done.stderr}"
    return str(done.stdout)


def _fetch() -> None:
    """Into a state of apt that is ours: nothing of the machine changes."""
    for folder in ("lists/partial", "archives/partial"):
        (CACHE / folder).mkdir(parents=True, exist_ok=True)
    sources = CACHE / "sources.list"
    sources.write_text(f"deb [signed-by={KEYRING}] {mirror()} {RELEASE} main\n")
    settings = {
        "Dir::Etc::SourceList": sources,
        "Dir::Etc::SourceParts": "/dev/null",
        "Dir::State::Lists": CACHE / "lists",
        "Dir::Cache": CACHE,
    }
    apt = ["apt-get", "-q", *(f"-o{name}={value}" for name, value in settings.items())]
    run([*apt, "update"])
    run([*apt, "download", "docker-compose"], cwd=str(CACHE))
    (package,) = CACHE.glob("docker-compose_*.deb")
    run(["dpkg-deb", "-x", str(package), str(CACHE / "root")])
    package.unlink()


if __name__ == "__main__":
    print(compose())
