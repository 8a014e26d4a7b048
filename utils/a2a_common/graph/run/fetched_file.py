"""The content of a file at an address that a user or another agent sent."""

from __future__ import annotations

from utils.a2a_common.protocol.artifact_limits import MOST_BYTES
from utils.events import FileBytes, FileUrl
from utils.net.fetch import FetchFailed, fetch_file
from utils.net.settings import FileAddresses, FileSettings

MOST_FILES = 10
"""Most files of one message or of one result that are fetched."""


async def fetched(file: FileUrl, settings: FileSettings) -> tuple[FileBytes | FileUrl, str]:
    """The file with its content; if it cannot be fetched, unchanged with a sentence that says why.

    Args:
        file: The file at its address.
        settings: From where files are fetched, and how long it may take.
    """
    if settings.addresses is FileAddresses.NONE:
        return file, "Files at an address are not fetched here (FILE_URLS)."
    private = settings.addresses is FileAddresses.ANY
    try:
        content = await fetch_file(
            file.url, most_bytes=MOST_BYTES, seconds=settings.seconds, allow_private=private
        )
    except FetchFailed as error:
        return file, str(error)
    return FileBytes(content, file.name, file.media_type), ""
