"""Files of an answer are saved under safe names, each once, and never over another file."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from multi_agents.cli.chat.downloads import Downloads
from utils.a2a_common.client.delegation.task_view import TaskView
from utils.a2a_common.client.stream.events import ArtifactChanged, StatusChanged
from utils.events import ContentPart, DelegationState, FileBytes, FileUrl, TextPart


def returned(*parts: ContentPart) -> TaskView:
    task = TaskView()
    task.apply(ArtifactChanged("1", "files", parts))
    return task


async def saved(folder: Path, *parts: ContentPart, largest: int = 1_000) -> list[str]:
    """The names of the files that were saved."""
    found = await Downloads(folder, largest).save(returned(*parts))
    return [one.path.name for one in found if one.path is not None]


async def test_a_file_is_saved_with_its_content_for_its_owner_alone(tmp_path: Path) -> None:
    downloads = Downloads(tmp_path / "new" / "downloads")
    (report,) = await downloads.save(returned(FileBytes(b"%PDF", "report.pdf", "application/pdf")))
    assert report.path is not None
    assert report.path.read_bytes() == b"%PDF"
    assert report.sentence == f'The file "report.pdf" (application/pdf, 4 bytes) was saved as {report.path}'
    assert stat.S_IMODE(report.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(report.path.parent.stat().st_mode) == 0o700


async def test_no_file_takes_the_place_of_another(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("mine")
    (tmp_path / "b.txt").symlink_to(tmp_path / "outside")
    names = await saved(
        tmp_path, FileBytes(b"1", "a.txt"), FileBytes(b"2", "a.txt"), FileBytes(b"3", "b.txt")
    )
    assert names == ["a-2.txt", "a-3.txt", "b-2.txt"]
    assert (tmp_path / "a.txt").read_text() == "mine"
    assert not (tmp_path / "outside").exists()


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\windows\\evil.exe", "evil.exe"),
        ("/", "file"),
        (".bashrc", "bashrc"),
        ("in\u202evoice\u200b.pdf", "invoice.pdf"),
        ("a\x1b[2Jb\n.txt", "a[2Jb .txt"),
        ("", "file.pdf"),
    ],
)
async def test_a_name_is_one_part_of_a_path_that_shows_all_of_itself(
    tmp_path: Path, name: str, kept: str
) -> None:
    assert await saved(tmp_path / "d", FileBytes(b"x", name, "application/pdf")) == [kept]
    assert [each.name for each in tmp_path.iterdir()] == ["d"]


async def test_a_file_that_is_too_large_is_named_and_not_saved(tmp_path: Path) -> None:
    (large,) = await Downloads(tmp_path, 3).save(returned(FileBytes(b"1234", "a.bin")))
    assert large.path is None
    assert "was not saved: it is larger than 3 bytes." in large.sentence
    assert list(tmp_path.iterdir()) == []


async def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "d").write_text("no folder")
    (one,) = await Downloads(tmp_path / "d").save(returned(FileBytes(b"1", "a.bin")))
    assert one.path is None
    assert "was not saved" in one.sentence


async def test_a_file_at_an_address_is_named_with_it_and_not_fetched(tmp_path: Path) -> None:
    links = [FileUrl("https://x.example/f", "f.txt", "text/plain"), FileUrl("file:///etc/passwd", "p")]
    web, local = await Downloads(tmp_path).save(returned(*links))
    assert web.sentence == 'The file "f.txt" (text/plain) is at https://x.example/f'
    assert "passwd" not in local.sentence
    assert list(tmp_path.iterdir()) == []


async def test_a_file_that_is_read_again_with_its_task_is_saved_once(tmp_path: Path) -> None:
    downloads, file = Downloads(tmp_path), FileBytes(b"1", "a.bin")
    first, again = returned(file), returned(TextPart("More."), file, FileBytes(b"2", "a.bin"))
    assert len(await downloads.save(first)) == 1
    assert [one.path and one.path.name for one in await downloads.save(again)] == ["a-2.bin"]


async def test_a_file_in_the_last_status_is_saved_too(tmp_path: Path) -> None:
    task = TaskView()
    task.apply(StatusChanged("t", "c", DelegationState.COMPLETED, (FileBytes(b"1", "a.bin"),)))
    assert len(await Downloads(tmp_path).save(task)) == 1
