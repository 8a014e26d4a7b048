"""Addresses of a code host, and its short form `owner/name#5`, written out in words, so that one reader understands both."""

from __future__ import annotations

import re

_HOST = r"(?:https?://)(?:www\.)?[\w.-]+(?::\d+)?"
_NAME = r"([\w-]+/[\w.-]*[\w-])"
_TABLE = (
    (re.compile(rf"{_HOST}/{_NAME}/pull/(\d+)\S*"), r"pull request \2 of \1"),
    (re.compile(rf"{_HOST}/{_NAME}/issues/(\d+)\S*"), r"issue \2 of \1"),
    (re.compile(rf"{_HOST}/{_NAME}/actions/runs/(\d+)\S*"), r"workflow run \2 of \1"),
    (re.compile(rf"{_HOST}/{_NAME}/(?:blob|tree)/([\w.-]+)/(\S*[\w)])"), r"file \3 of \1 on branch \2"),
    (re.compile(rf"{_HOST}/{_NAME}/commit/([0-9a-f]{{7,40}})\S*"), r"commit \2 of \1"),
    (re.compile(rf"{_HOST}/{_NAME}/releases\S*"), r"releases of \1"),
    (re.compile(rf"{_HOST}/{_NAME}/pulls\S*"), r"pull requests of \1"),
    (re.compile(rf"{_HOST}/{_NAME}/issues(?![\w/])\S*"), r"issues of \1"),
    (re.compile(rf"https?://(?:www\.)?github\.[\w.-]+/{_NAME}(?:\.git)?/?(?![\w/.-])"), r"\1"),
    (re.compile(r"https?://(?:www\.)?github\.[\w.-]+/([\w-]+)/?(?![\w/.-])"), r"the account \1"),
    (re.compile(rf"(?<![\w/.-]){_NAME}#(\d+)(?![\w-])"), r"issue \2 of \1"),
)


def links_in_words(text: str) -> str:
    """`text` with each such address replaced: ".../octocat/hello-world/pull/7" by "pull request 7 of octocat/hello-world"."""
    for form, written in _TABLE:
        text = form.sub(written, text)
    return text
