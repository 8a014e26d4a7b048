"""One process on a folder, and files that are nobody else's, where the file system plays along and where not."""

import errno
import fcntl
import os
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from utils.errors import SettingsError
from utils.persistence.home_lock import LOCK_FILE, only_process_in
from utils.persistence.private import make_private


async def test_a_folder_is_held_until_it_is_let_go_of(tmp_path):
    async with only_process_in(tmp_path):
        assert (tmp_path / LOCK_FILE).read_text() == str(os.getpid())
        with pytest.raises(SettingsError, match=f"process {os.getpid()} "):
            async with only_process_in(tmp_path, patience=0):
                pass
    async with only_process_in(tmp_path, patience=0):
        pass


async def test_what_a_link_in_place_of_the_lock_leads_to_is_not_overwritten(tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("precious")
    (tmp_path / LOCK_FILE).symlink_to(elsewhere)
    with pytest.raises(OSError, match="symbolic links"):
        async with only_process_in(tmp_path):
            pass
    assert elsewhere.read_text() == "precious"


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP])
async def test_a_file_system_without_locks_is_a_warning(tmp_path, monkeypatch, number):
    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with capture_logs() as lines:
        async with only_process_in(tmp_path):
            pass
    assert [line["event"] for line in lines] == ["home.not_locked"]


def test_what_belongs_to_somebody_else_is_counted_and_the_rest_made_private(tmp_path, monkeypatch):
    for name in ("agent", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").touch()
        (tmp_path / name / "file").chmod(0o644)
    own = Path.chmod

    def chmod(path: Path, mode: int, **options: bool) -> None:
        if path == tmp_path:
            raise PermissionError
        own(path, mode, **options)

    tmp_path.chmod(0o755)
    monkeypatch.setattr(Path, "chmod", chmod)
    assert make_private(tmp_path, "agent") == 1
    assert (tmp_path / "agent" / "file").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "other" / "file").stat().st_mode & 0o777 == 0o644


def test_a_link_out_of_the_folder_is_not_followed(tmp_path):
    outside = tmp_path / "outside"
    outside.touch()
    outside.chmod(0o644)
    (tmp_path / "home" / "agent").mkdir(parents=True)
    (tmp_path / "home" / "agent" / "link").symlink_to(outside)
    assert make_private(tmp_path / "home", "agent") == 0
    assert outside.stat().st_mode & 0o777 == 0o644


async def test_who_finds_the_folder_of_another_agent_of_the_same_name_is_told_so(tmp_path):
    folder = tmp_path / "asker"
    folder.mkdir()
    async with only_process_in(folder):
        with pytest.raises(SettingsError, match=r"two entries .* the same `name`, 'asker'") as refused:
            async with only_process_in(folder, patience=0):
                pass
    assert refused.value.message.startswith(f"This agent runs already: process {os.getpid()} ")
