"""Files of another agent's answer, made safe to pass on: name, media type and address are checked. Pure."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import quote, urlsplit

from utils.a2a_common.protocol.artifact_limits import MOST_BYTES
from utils.a2a_common.protocol.file_names import safe_file_name
from utils.events import ContentPart, FileBytes, FileUrl

LONGEST_ADDRESS = 2_000
"""Characters of an address; a longer one is not shown, since a part of it leads nowhere."""

UNKNOWN_TYPE = "application/octet-stream"

_MEDIA_TYPE = re.compile(r"[\w.+-]{1,60}/[\w.+-]{1,80}", re.ASCII)
_OF_AN_ADDRESS = "!#$%&'()*+,/:;=?@[]~"


class RemoteFile(NamedTuple):
    """A file of a remote task.

    Attributes:
        key: Its place in the task: the same file has the same key however often the task is read.
        file: The file. Its content is as it came.
    """

    key: str
    file: FileBytes | FileUrl


def file_of(part: ContentPart) -> FileBytes | FileUrl | None:
    """The file that a part holds; `None` for another part, and for a file too large or at an address that is not passed on."""
    match part:
        case FileBytes(content=content) if len(content) <= MOST_BYTES:
            return FileBytes(content, safe_file_name(part.name), plausible_type(part.media_type))
        case FileUrl(url=url) if address := web_address(url):
            return FileUrl(address, safe_file_name(part.name), plausible_type(part.media_type))
        case _:
            return None


def plausible_type(media_type: str) -> str:
    """The media type, if it has the form of one."""
    return media_type if _MEDIA_TYPE.fullmatch(media_type) else UNKNOWN_TYPE


def web_address(url: str) -> str:
    """The address of a file, quoted; empty for one that is too long, not of the web, or that names a user.

    An address that names a user looks like another host's.
    """
    address = quote(url[: LONGEST_ADDRESS + 1], safe=_OF_AN_ADDRESS)
    if len(address) > LONGEST_ADDRESS:
        return ""
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    web = parts.scheme in {"http", "https"} and parts.hostname and "@" not in parts.netloc
    return address if web else ""
