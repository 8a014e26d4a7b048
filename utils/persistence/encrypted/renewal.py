"""Re-encrypts stored values with the first key, bound to their place. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from utils.encryption.codec import Codec, Place
from utils.persistence.encrypted.columns import Form
from utils.persistence.encrypted.serializer import CIPHER
from utils.persistence.encrypted.stores import VALUE, closed_in

_BEHIND = f"+{CIPHER}"

Values = tuple[Any, ...]


def renewed(
    codec: Codec, form: Form, values: Sequence[Any], place: Place, to: Place | None = None
) -> Values | None:
    """The new values of a row; `None` if it needs no change, or if there are no keys.

    Args:
        codec: The keys.
        form: How the column holds its value.
        values: What it holds, behind the type where it has one.
        place: The place that it was read at.
        to: The place that it shall be read at, where that is another one.

    Raises:
        StorageUnreadable: It cannot be decrypted.
        ValueError: It is none of this form.
    """
    if not codec.keys:
        return None
    return _RENEW[form](codec, tuple(values), place, to or place)


def _bytes(codec: Codec, values: Values, place: Place, to: Place) -> Values | None:
    stored = bytes(values[0])
    plain = codec.decrypt(stored, place)
    return None if place == to and codec.is_current(stored) else (codec.encrypt(plain, to),)


def _text(codec: Codec, values: Values, place: Place, to: Place) -> Values | None:
    raw = values[0]
    stored = raw if isinstance(raw, str) else bytes(raw).decode()
    new = _new_text(codec, stored, place, to)
    if new is None:
        return None
    return (new if isinstance(raw, str) else new.encode(),)


def _new_text(codec: Codec, stored: str, place: Place, to: Place) -> str | None:
    if not stored:
        return None
    plain = codec.decrypt_text(stored, place)
    return None if place == to and codec.is_current(stored) else codec.encrypt_text(plain, to)


def _json(codec: Codec, values: Values, place: Place, to: Place) -> Values | None:
    raw = values[0]
    held = json.loads(raw if isinstance(raw, str) else bytes(raw))
    closed = closed_in(held)
    if closed is None:
        new = codec.encrypt_text(json.dumps(held), to) if codec.on else None
    else:
        new = _new_text(codec, closed, place, to)
    if new is None:
        return None
    text = json.dumps(_closed_like(held, new))
    return (text if isinstance(raw, str) else text.encode(),)


def _closed_like(held: Any, closed: str) -> Any:
    return [{VALUE: closed}] if isinstance(held, list) else {VALUE: closed}


def _typed(codec: Codec, values: Values, place: Place, to: Place) -> Values | None:
    kind, raw = values
    if raw is None or kind is None:
        return None
    stored = bytes(raw)
    if not kind.endswith(_BEHIND):
        if not codec.on:
            return None
        return f"{kind}{_BEHIND}", codec.encrypt(stored, to)
    new = _bytes(codec, (stored,), place, to)
    return None if new is None else (kind, *new)


def _channels(codec: Codec, values: Values, place: Place, to: Place) -> Values | None:
    channels = values[0].get("channel_values") or {}
    texts = {name: value for name, value in channels.items() if isinstance(value, str)}
    new = {name: _new_text(codec, text, place, to) for name, text in texts.items()}
    changed = {name: text for name, text in new.items() if text is not None}
    return ({**values[0], "channel_values": {**channels, **changed}},) if changed else None


def _bare(codec: Codec, values: Values, place: Place, to: Place) -> Values | None:
    del place, to
    new = codec.rotated(bytes(values[0]))
    return None if new is None else (new,)


_RENEW: dict[Form, Callable[[Codec, Values, Place, Place], Values | None]] = {
    Form.BYTES: _bytes,
    Form.TEXT: _text,
    Form.LIST: _json,
    Form.MAPPING: _json,
    Form.TYPED: _typed,
    Form.CHANNELS: _channels,
    Form.BARE: _bare,
}
