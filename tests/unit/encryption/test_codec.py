"""What encrypts stored conversations, and the keys that rotate."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from cryptography.fernet import Fernet

from tests.contract.stores.unbound import Unbound
from utils.embeddings.renewal import renew_vectors
from utils.embeddings.store import VectorStore
from utils.encryption.codec import PLAIN, TEXT_MARK, Codec
from utils.encryption.errors import StorageKeyMissing, StorageMisplaced
from utils.encryption.settings import EncryptionSettings
from utils.errors import SettingsError

OLD, NEW = (Fernet.generate_key().decode() for _ in range(2))
SECRET = "zanzibar \x00 é 🙂"
HERE = ("kind", "row", "ann")


def test_what_is_encrypted_shows_nothing_and_comes_back_whole() -> None:
    codec = Codec([OLD])
    stored, text = codec.encrypt(SECRET.encode(), HERE), codec.encrypt_text(SECRET, HERE)
    assert b"zanzibar" not in stored
    assert "zanzibar" not in text
    assert codec.decrypt(stored, HERE).decode() == codec.decrypt_text(text, HERE) == SECRET
    assert codec.encrypt(b"", HERE) != b""


def test_what_was_stored_before_there_were_keys_stays_readable() -> None:
    codec = Codec([OLD])
    for plain in (SECRET, "", f"{TEXT_MARK}is how I begin", f"{TEXT_MARK}gAAAAA is not all of it"):
        assert codec.decrypt_text(PLAIN.encrypt_text(plain, HERE), HERE) == plain
        assert codec.decrypt(PLAIN.encrypt(plain.encode(), HERE), HERE) == plain.encode()


@pytest.mark.parametrize(
    "there", [("kind", "row", "bob"), ("kind", "row"), ("kind", "rowann"), ("kind", "row,", "ann")]
)
def test_what_is_found_at_another_place_than_its_own_is_refused(there: tuple[str, ...]) -> None:
    codec = Codec([OLD])
    for read in (
        lambda: codec.decrypt(codec.encrypt(b"a", HERE), there),
        lambda: codec.decrypt_text(codec.encrypt_text("a", HERE), there),
    ):
        with pytest.raises(StorageMisplaced) as caught:
            read()
        assert caught.value.message.startswith("What is needed is not shown: it was stored for another place")


def test_what_was_encrypted_for_no_place_is_read_and_is_not_current() -> None:
    before, codec = Unbound([OLD]), Codec([OLD])
    stored, text = before.encrypt(SECRET.encode(), HERE), before.encrypt_text(SECRET, HERE)
    assert codec.decrypt(stored, HERE).decode() == codec.decrypt_text(text, HERE) == SECRET
    now = codec.encrypt(b"a", HERE), codec.encrypt_text("a", HERE)
    assert [codec.is_current(each) for each in (stored, text, b"plain", "plain", *now)] == [False] * 4 + [
        True
    ] * 2
    assert not any(Codec([NEW, OLD]).is_current(each) for each in now)


def test_a_new_first_key_writes_and_the_old_one_still_reads() -> None:
    before, rotated, after = Codec([OLD]), Codec([NEW, OLD]), Codec([NEW])
    assert rotated.decrypt_text(before.encrypt_text(SECRET, HERE), HERE) == SECRET
    assert after.decrypt_text(rotated.encrypt_text(SECRET, HERE), HERE) == SECRET


def test_a_key_behind_plain_reads_and_does_not_write() -> None:
    before, codec = Codec([OLD]), EncryptionSettings.load({"ENCRYPTION_KEYS": f"plain,{OLD}"}).codec()
    stored, text = before.encrypt(SECRET.encode(), HERE), before.encrypt_text(SECRET, HERE)
    assert codec.decrypt(stored, HERE).decode() == codec.decrypt_text(text, HERE) == SECRET
    assert codec.encrypt(b"a", HERE) == b"a"
    assert codec.encrypt_text("a", HERE) == "a"
    assert (codec.on, codec.keys) == (False, (OLD,))


def test_a_key_reads_what_it_or_nobody_encrypted() -> None:
    stored = Codec([OLD]).encrypt(b"a", HERE)
    read = [codec.reads(stored) for codec in (Codec([OLD]), Codec([NEW, OLD]), Codec(["plain", OLD]))]
    assert read == [True, True, True]
    assert not any(codec.reads(stored) for codec in (Codec([NEW]), Codec(["plain", NEW]), PLAIN))
    assert all(codec.reads(b"a") for codec in (Codec([NEW]), PLAIN))


@pytest.mark.parametrize("codec", [Codec([NEW]), PLAIN])
def test_without_the_key_there_is_a_sentence_that_names_the_setting(codec: Codec) -> None:
    stored = Codec([OLD])
    for read in (
        lambda: codec.decrypt(stored.encrypt(b"a", HERE), HERE),
        lambda: codec.decrypt_text(stored.encrypt_text("a", HERE), HERE),
    ):
        with pytest.raises(StorageKeyMissing) as caught:
            read()
        assert caught.value.message == (
            "What is needed cannot be read: it was encrypted with a key that this agent does not have any more. Its operator "
            "can see in the log which setting names the keys."
        )
        assert "ENCRYPTION_KEYS" in caught.value.for_operator
        assert not caught.value.retryable


def test_keys_come_from_a_setting_or_a_file(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text(f"{NEW}\n{OLD}\n")
    for environ in ({"ENCRYPTION_KEYS": f" {NEW}, {OLD} "}, {"ENCRYPTION_KEYS_FILE": str(file)}):
        assert EncryptionSettings.load(environ).codec().keys == (NEW, OLD)
    assert not EncryptionSettings.load({}).codec().on


@pytest.mark.parametrize(
    ("environ", "said"),
    [
        ({"ENCRYPTION_KEYS": "short"}, "ENCRYPTION_KEYS needs keys of 32 bytes"),
        ({"ENCRYPTION_KEYS": ","}, "ENCRYPTION_KEYS needs keys of 32 bytes"),
        ({"ENCRYPTION_KEYS": f"{NEW},plain"}, "ENCRYPTION_KEYS needs keys of 32 bytes"),
        ({"ENCRYPTION_KEYS": OLD + "é"}, "ENCRYPTION_KEYS needs keys of 32 bytes"),
        ({"ENCRYPTION_KEYS_FILE": "/nowhere/keys"}, "The file in ENCRYPTION_KEYS_FILE cannot be read"),
        (
            {"ENCRYPTION_KEYS": OLD, "ENCRYPTION_KEYS_FILE": "/nowhere/keys"},
            "Set ENCRYPTION_KEYS or ENCRYPTION_KEYS_FILE, and not both",
        ),
    ],
)
def test_wrong_keys_are_refused_with_the_setting_and_without_the_value(
    environ: dict[str, str], said: str
) -> None:
    with pytest.raises(SettingsError, match=said) as caught:
        EncryptionSettings.load(environ).codec()
    assert OLD not in caught.value.message
    assert "nowhere" not in caught.value.message


def test_cached_vectors_of_texts_are_encrypted_and_found_again(tmp_path: Path) -> None:
    vectors = {b"digest-of-a-text": np.array([0.1, 0.5, 0.5, 0.7], dtype=np.float32)}
    file = tmp_path / "embeddings.sqlite"
    VectorStore(file, "model", Codec([OLD])).write(vectors)
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"digest-of-a-text" not in stored
    assert vectors[b"digest-of-a-text"].tobytes() not in stored
    for codec in (Codec([OLD]), Codec([OLD, NEW])):
        found = VectorStore(file, "model", codec).read([*vectors, b"other"])
        assert {key: vector.tobytes() for key, vector in found.items()} == {
            key: vector.tobytes() for key, vector in vectors.items()
        }
    for codec in (Codec([NEW, OLD]), Codec([NEW]), PLAIN):
        assert VectorStore(file, "model", codec).read([*vectors]) == {}


def test_cached_vectors_are_encrypted_later_and_those_of_other_keys_deleted(tmp_path: Path) -> None:
    vectors = {b"digest-of-a-text": np.array([0.1, 0.5, 0.5, 0.7], dtype=np.float32)}
    file = tmp_path / "embeddings.sqlite"
    VectorStore(file, "model").write(vectors)
    VectorStore(file, "other", Codec([OLD])).write(vectors)
    assert renew_vectors(tmp_path, Codec([NEW, OLD])) == 2
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"digest-of-a-text" not in stored
    (found,) = VectorStore(file, "model", Codec([NEW])).read([*vectors]).values()
    assert found.tobytes() == vectors[b"digest-of-a-text"].tobytes()
    assert VectorStore(file, "other", Codec([NEW, OLD])).read([*vectors]) == {}
    assert renew_vectors(tmp_path, Codec([NEW, OLD])) == 0


def test_a_token_without_a_mark_is_rotated_by_the_keys_that_read_it_and_by_no_others() -> None:
    token = Fernet(OLD).encrypt(b"a")
    new = Codec([NEW, OLD]).rotated(token)
    assert new is not None
    assert Fernet(NEW).decrypt(new) == b"a"
    for codec in (Codec([OLD, NEW]), Codec([NEW]), PLAIN):
        assert codec.rotated(token) is None
