"""Files and folders of a repository."""

from __future__ import annotations

import base64
import binascii
from contextlib import aclosing
from typing import Any

from pydantic import Field

from agents.github.client import GitHubClient, Row, path_of
from agents.github.not_known import NotKnown
from agents.github.paging import Listing
from agents.github.tools.arguments import RepositoryArguments
from agents.github.tools.project import clip, items, page_url, rows_of, text
from agents.github.tools.spec import ToolSpec
from utils.errors import UpstreamRefused
from utils.messages.results import Items, Record

_RAW = "application/vnd.github.raw+json"
_MAX_BYTES = 16_000_000
"""Bytes read of a file that is too large for GitHub's JSON answer (over 1 MB)."""
_LONGEST_LINE = 2_000
"""Characters kept of one line (minified files have lines of megabytes)."""
_TEXT_LIMIT = 40_000
"""Characters given back at once."""


class GetFile(RepositoryArguments):
    """Which file to read."""

    path: str = Field(min_length=1, description="docs/README.md")
    ref: str | None = Field(None, description="Branch, tag or commit; the default branch when omitted.")
    first_line: int = Field(1, ge=1, description="First line to give.")
    limit: int = Field(500, ge=1, le=5000, description="Lines to give at most.")


class ListDirectory(RepositoryArguments):
    """Which folder to list."""

    path: str = Field("", description="Its top when empty.")
    ref: str | None = Field(None, description="Branch, tag or commit; the default branch when omitted.")


async def get_file(github: GitHubClient, args: GetFile) -> Record | Items:
    """The lines of a text file, or the entries of a folder."""
    try:
        value = await _contents(github, args, args.path, args.ref)
    except UpstreamRefused:
        named = await _real_name(github, args)
        if not named:
            raise
        args = args.model_copy(update={"path": named})
        value = await _contents(github, args, named, args.ref)
    if isinstance(value, list):
        return _entries(github, args, args.path, value)
    raw: Row = value if isinstance(value, dict) else {}
    item = {"path": text(raw.get("path")) or args.path, "size": raw.get("size"), "type": raw.get("type")}
    source = text(raw.get("html_url"))
    if raw.get("type", "file") != "file":
        target = text(raw.get("target")) or text(raw.get("submodule_git_url"))
        return Record(kind="file", item=item | {"target": target}, source=source)
    lines = await _lines(github, args, raw)
    if lines is None:
        note = "This is a binary file; its contents are not shown."
        return Record(kind="file", item=item, note=note, source=source)
    return _text_record(args, item, lines, source)


async def _real_name(github: GitHubClient, args: GetFile) -> str:
    """The one file whose name, in any case and with or without its ending, is the path: README.md for readme; empty where there is none."""
    folder, _, wanted = args.path.lower().rpartition("/")
    try:
        rows = rows_of(await _contents(github, args, args.path[: len(folder)], args.ref))
    except UpstreamRefused:
        return ""
    paths = [str(row.get("path") or row.get("name")) for row in rows if row.get("type") == "file"]
    names = {path: path.rpartition("/")[2].lower() for path in paths}
    found = [path for path, name in names.items() if wanted in (name, name.rpartition(".")[0])]
    return found[0] if len(found) == 1 else ""


async def list_directory(github: GitHubClient, args: ListDirectory) -> Items:
    """The entries of a folder, folders first."""
    value = await _contents(github, args, args.path, args.ref)
    return _entries(github, args, args.path, value if isinstance(value, list) else [value])


async def _contents(github: GitHubClient, args: RepositoryArguments, path: str, ref: str | None) -> Any:
    at = f" at {ref}" if ref else ""
    what = f"{path or 'the top folder'} of {args.full_name}{at}"
    try:
        return await github.get(_contents_path(args, path), what, ref=ref)
    except NotKnown as error:
        if path and await _can_be_read(github, args, ref):
            raise UpstreamRefused(f"There is no file or folder {path} in {args.full_name}{at}.") from error
        raise


async def _can_be_read(github: GitHubClient, args: RepositoryArguments, ref: str | None) -> bool:
    """Whether the top folder can be read, so that what is not found in it is not there."""
    try:
        await github.get(_contents_path(args, ""), f"the top folder of {args.full_name}", ref=ref)
    except UpstreamRefused:
        return False
    return True


def _contents_path(args: RepositoryArguments, path: str) -> str:
    segments = [segment for segment in path.split("/") if segment not in {"", ".", ".."}]
    return path_of("repos", args.owner, args.repo, "contents", *segments)


async def _lines(github: GitHubClient, args: GetFile, raw: Row) -> list[str] | None:
    """Lines of the file; `None` if it is binary."""
    if raw.get("encoding") == "base64":
        try:
            data = base64.b64decode(str(raw.get("content") or ""))
        except (binascii.Error, ValueError):
            return None
        return None if _is_binary(data) else _split(data.decode("utf-8", "replace"))
    return await _raw_lines(github, args)


async def _raw_lines(github: GitHubClient, args: GetFile) -> list[str] | None:
    """Lines of a large file up to the last requested one, streamed."""
    path, params = _contents_path(args, args.path), {"ref": args.ref}
    what = f"{args.path} of {args.full_name}"
    last = args.first_line + args.limit
    found: list[str] = []
    async with aclosing(github.lines(path, what, params, max_bytes=_MAX_BYTES, accept=_RAW)) as lines:
        async for line in lines:
            if "\0" in line:
                return None
            found.append(line if len(found) + 1 >= args.first_line else "")
            if len(found) > last:
                break
    return found


def _split(content: str) -> list[str]:
    """Split into lines as editors do: other Unicode line separators do not count."""
    return [line.rstrip("\r") for line in content.removesuffix("\n").split("\n")]


def _is_binary(data: bytes) -> bool:
    return b"\0" in data[:8_000]


def _text_record(args: GetFile, item: Row, lines: list[str], source: str | None) -> Record:
    first = args.first_line - 1
    wanted = lines[first : first + args.limit]
    shown, size = [], 0
    for line in wanted:
        size += min(len(line), _LONGEST_LINE) + 1
        if size > _TEXT_LIMIT:
            break
        shown.append(clip(line, _LONGEST_LINE))
    end = first + len(shown)
    item = item | {"lines": f"{args.first_line}-{end}" if shown else "none", "content": "\n".join(shown)}
    return Record(kind="file", item=item, note=_text_note(args, lines, shown, end), source=source)


def _text_note(args: GetFile, lines: list[str], shown: list[str], end: int) -> str | None:
    notes = []
    if any(len(line) > _LONGEST_LINE for line in lines[args.first_line - 1 : end]):
        notes.append(f"Lines of more than {_LONGEST_LINE:,} characters are cut.")
    if end < len(lines) and shown:
        notes.append(f"There is more: go on with first_line={end + 1}.")
    if not shown:
        notes.append(f"The file ends before line {args.first_line}.")
    return " ".join(notes) or None


def _entries(github: GitHubClient, args: RepositoryArguments, path: str, values: list[Any]) -> Items:
    raws = sorted(rows_of(values), key=lambda raw: (raw.get("type") != "dir", str(raw.get("name"))))
    kept = raws[: github.settings.max_items]
    rows = [
        {"name": raw.get("name"), "type": raw.get("type"), "size": raw.get("size"), "path": raw.get("path")}
        for raw in kept
    ]
    cut = len(raws) > len(kept)
    note = f"{len(kept)} of {len(raws)} entries." if cut else ""
    listing = Listing(kept, page=1, total=len(raws), more=False)
    source = page_url(github, raws, args.full_name, "tree", "HEAD", path).rstrip("/")
    return items("entries", listing, rows, source=source, note=note)


GET_FILE = ToolSpec(
    name="get_file",
    description="Read a file of a repository.",
    arguments=GetFile,
    run=get_file,
    examples=(
        "Show the README.md of octocat/hello-world",
        "What is in pyproject.toml of octo-org/octo-repo?",
        "Read src/main.py in octocat/hello-world",
        "Print the Dockerfile of octo-org/octo-repo on branch develop",
        "Show me the file .github/workflows/ci.yml of django/django",
        "How is the Makefile of octo-org/octo-repo written at version v1.2?",
        "Let me see the contents of charts/app/Chart.yaml in octocat/hello-world",
        "Which values does settings.py of django/django set?",
    ),
)

LIST_DIRECTORY = ToolSpec(
    name="list_directory",
    description="List a folder of a repository.",
    arguments=ListDirectory,
    run=list_directory,
    examples=(
        "Which files are in octocat/hello-world?",
        "List the folder src of octo-org/octo-repo",
        "Show the directory structure of octocat/hello-world",
        "What is in the docs directory of django/django?",
        "Browse the tests folder in octo-org/octo-repo",
    ),
)
