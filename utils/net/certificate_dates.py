"""Whether the certificate that a server shows is valid now, and for how long: clients refuse one that is not, and nobody tells the server."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from utils.errors import SettingsError
from utils.net.tls_files import read

if TYPE_CHECKING:
    from pathlib import Path

SOON = timedelta(days=14)
"""How long before its end a certificate is named: renewals run a month before, so that one of them has failed by then."""


class Dates(NamedTuple):
    """From when to when a certificate is valid, and the setting that names its file."""

    setting: str
    begins: datetime
    ends: datetime

    def wrong(self, now: datetime) -> str:
        """Why clients refuse it at a moment; empty where they do not. Pure."""
        if now >= self.ends:
            return f"the certificate of {self.setting} expired on {_day(self.ends)}, so clients reject it. {RENEW}"
        if now < self.begins:
            return f"the certificate of {self.setting} is not valid until {_day(self.begins)}, so clients reject it. Check the system clock."
        return ""

    def soon(self, now: datetime) -> str:
        """That it expires soon; empty where it does not, or is refused already. Pure."""
        if self.wrong(now) or self.ends - now > SOON:
            return ""
        return f"the certificate of {self.setting} expires on {_day(self.ends)}, in {(self.ends - now).days} days. {RENEW}"


RENEW = "Renew it, then restart the processes that use it."


def dates_of(setting: str, file: Path | None) -> list[Dates]:
    """Those of the first certificate of a file, which is the one that is shown; nothing where no file is named.

    Raises:
        SettingsError: The file cannot be read.
    """
    if file is None:
        return []
    from cryptography.x509 import load_pem_x509_certificates

    try:
        first = load_pem_x509_certificates(read(setting, file))[0]
    except (ValueError, IndexError) as error:
        raise SettingsError(setting, f"The file in {setting} holds no certificate in PEM form.") from error
    return [Dates(setting, first.not_valid_before_utc, first.not_valid_after_utc)]


def _day(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
