"""Data of the test server: GitHub's own examples, repeated and varied."""

from __future__ import annotations

import base64
import copy
import json
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

_EXAMPLES = Path(__file__).parent / "examples"
_START = datetime(2026, 1, 1, 8, tzinfo=UTC)
_AUTHORS = ("octocat", "hubot", "monalisa")
_EVERY_CLOSED = 6
_UNICODE_NUMBER = 2
_JSON_LIMIT = 1_000_000
"""Size in bytes above which GitHub's JSON has no content."""
_EVERY_DRAFT = 10

REPOSITORIES = ("octocat/hello-world", "octo-org/octo-repo")
"""Repositories that exist, in lower case."""
FAILED_STEP = "Run Tests"
"""The step at which the example job fails."""
UNICODE_TITLE = "Schöne Grüße 🚀 — 日本語のタイトル"
"""Title of the pull request and of the issue with number 2."""

FILES: dict[str, bytes] = {
    "README.md": "# Hello, world\n\nGrüße aus dem Repository 🚀\n".encode(),
    "docs/guide.md": b"# Guide\n\nRead me.\n",
    "src/main.py": b'"""Entry point."""\n\nprint("hello")\n',
    "logo.png": b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(range(256)),
    "min.js": b"var a=1;" * 50_000,
    "big.log": b"".join(b"line %d of a large file\n" % number for number in range(1, 60_001)),
}
"""Files of every repository. The JSON answer carries no content for those over 1 MB."""


def example(name: str) -> Any:
    """One of GitHub's examples, unchanged."""
    return json.loads((_EXAMPLES / f"{name}.json").read_text(encoding="utf-8"))


class GitHubData:
    """Rows of the lists; `count` open pull requests, `count` open issues, and some closed ones.

    Args:
        count: How many are open.
        issue_text: Body of each issue that is read alone; that of GitHub's example where empty.
    """

    def __init__(self, count: int, issue_text: str = "") -> None:
        self._issue_text = issue_text
        self._numbers = range(1, count + count // (_EVERY_CLOSED - 1) + 1)

    @cached_property
    def pulls(self) -> list[dict[str, Any]]:
        """Pull requests, the newest first; every sixth is closed, half of these merged."""
        sample = example("pulls")[0]
        return [_pull(copy.deepcopy(sample), number) for number in reversed(self._numbers)]

    @cached_property
    def issues(self) -> list[dict[str, Any]]:
        """Issues, the newest first, mixed with as many pull requests, as GitHub's own list is."""
        sample = example("issues")[0]
        rows = []
        for number in reversed(self._numbers):
            rows.append(_issue(copy.deepcopy(sample), number))
            rows.append(
                _issue(copy.deepcopy(sample), 1000 + number) | {"pull_request": sample["pull_request"]}
            )
        return rows

    def pull(self, number: int) -> dict[str, Any] | None:
        """One pull request in full."""
        if number not in self._numbers:
            return None
        return _pull(example("pull"), number)

    def issue(self, number: int) -> dict[str, Any] | None:
        """One issue in full."""
        if number not in self._numbers:
            return None
        row = _issue(example("issue"), number)
        return row | {"body": self._issue_text} if self._issue_text else row

    def repeated(self, sample_name: str, count: int, **changes: str) -> list[dict[str, Any]]:
        """An example's first row `count` times, with `{n}` filled in."""
        sample = example(sample_name)[0]
        return [
            sample | {key: value.format(n=number) for key, value in changes.items()}
            for number in range(1, count + 1)
        ]


def file_row(path: str) -> dict[str, Any]:
    """GitHub's JSON for a file."""
    data = FILES[path]
    small = len(data) <= _JSON_LIMIT
    row: dict[str, Any] = example("file")
    return row | {
        "name": path.rsplit("/", 1)[-1],
        "path": path,
        "size": len(data),
        "encoding": "base64" if small else "none",
        "content": base64.encodebytes(data).decode() if small else "",
        "html_url": f"https://github.com/octocat/Hello-World/blob/master/{path}",
    }


def directory_rows(folder: str) -> list[dict[str, Any]]:
    """GitHub's JSON for a folder; empty if there is none."""
    prefix = f"{folder}/" if folder else ""
    sample = example("directory")[0]
    names = sorted({path.removeprefix(prefix).split("/")[0] for path in FILES if path.startswith(prefix)})
    rows = []
    for name in names:
        path = prefix + name
        kind = "file" if path in FILES else "dir"
        rows.append(sample | {"name": name, "path": path, "type": kind, "size": len(FILES.get(path, b""))})
    return rows


def failed_job(number: int) -> dict[str, Any]:
    """The example job, failed at `FAILED_STEP`."""
    job: dict[str, Any] = example("job")
    job |= {"id": number, "conclusion": "failure"}
    for step in job["steps"]:
        if step["name"] == FAILED_STEP:
            step["conclusion"] = "failure"
    return job


def job_log(lines: int) -> str:
    """A log in the runner's form: noise before, a failing test, and steps that run after the failure."""
    noise = [f"2020-01-20T17:42:45.{number % 1000:03d}0000Z Fetching gem {number}" for number in range(lines)]
    failing = [
        "2020-01-20T17:42:53.1000000Z ##[group]Run bundle exec rake",
        "2020-01-20T17:42:53.2000000Z \x1b[36;1mbundle exec rake\x1b[0m",
        "2020-01-20T17:42:53.3000000Z ##[endgroup]",
        "2020-01-20T17:42:58.0000000Z test_greeting: FAILED",
        '2020-01-20T17:42:58.1000000Z   Expected: "Hello"',
        '2020-01-20T17:42:58.2000000Z   Actual: "Grüße"',
        "2020-01-20T17:42:59.0000000Z ##[error]Process completed with exit code 1.",
    ]
    after = [
        "2020-01-20T17:44:39.0000000Z Post job cleanup.",
        "2020-01-20T17:44:39.1000000Z ##[error]Unable to save the cache.",
        *(f"2020-01-20T17:44:39.2000000Z Cleaning up {number}" for number in range(100)),
    ]
    early = [
        "\ufeff2020-01-20T17:42:40.0000000Z Current runner version",
        "2020-01-20T17:42:46.0Z ##[error]not this one",
    ]
    return "\r\n".join([*early, *noise, *failing, *after]) + "\r\n"


def _pull(row: dict[str, Any], number: int) -> dict[str, Any]:
    closed = number % _EVERY_CLOSED == 0
    merged = closed and number % (2 * _EVERY_CLOSED) == 0
    when = _time(number)
    row |= {
        "id": number,
        "number": number,
        "title": UNICODE_TITLE if number == _UNICODE_NUMBER else f"Amazing new feature {number}",
        "state": "closed" if closed else "open",
        "draft": number % _EVERY_DRAFT == 0,
        "locked": False,
        "created_at": when,
        "updated_at": when,
        "closed_at": when if closed else None,
        "merged_at": when if merged else None,
        "html_url": f"https://github.com/octocat/Hello-World/pull/{number}",
    }
    row["user"]["login"] = _AUTHORS[number % len(_AUTHORS)]
    row["head"]["ref"] = f"new-topic-{number}"
    if "merged" in row:
        row |= {"merged": merged, "merged_by": row["merged_by"] if merged else None, "comments": _comments()}
    return row


def _comments() -> int:
    """How many comments the server shows of each issue and pull request."""
    return len(example("issue_comments"))


def _issue(row: dict[str, Any], number: int) -> dict[str, Any]:
    row.pop("pull_request", None)
    closed = number % _EVERY_CLOSED == 0
    row |= {
        "id": number,
        "number": number,
        "title": UNICODE_TITLE if number == _UNICODE_NUMBER else f"Found a bug {number}",
        "state": "closed" if closed else "open",
        "created_at": _time(number),
        "updated_at": _time(number),
        "html_url": f"https://github.com/octocat/Hello-World/issues/{number}",
        "comments": _comments(),
    }
    row["user"]["login"] = _AUTHORS[number % len(_AUTHORS)]
    return row


def _time(number: int) -> str:
    return (_START + timedelta(hours=number)).strftime("%Y-%m-%dT%H:%M:%SZ")
