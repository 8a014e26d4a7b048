"""Whether the certificate that a server presents is valid now, and for how long: the server itself does not notice that clients reject it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from utils.errors import SettingsError
from utils.net.tls_files import read

if TYPE_CHECKING:
    from pathlib import Path

SOON = timedelta(days=14)
"""How long before its expiry a certificate is reported: renewals run a month before, so one of them must have failed by then."""


class Dates(NamedTuple):
    """The period in which a certificate is valid, and the setting that names its file."""

    setting: str
    begins: datetime
    ends: datetime

    def wrong(self, now: datetime) -> str:
        """Why clients reject it at this time; empty if they do not. Pure."""
        if now >= self.ends:
            return f"the certificate of {self.setting} expired on {_day(self.ends)}, so clients reject it. {RENEW}"
        if now < self.begins:
            return f"the certificate of {self.setting} is not valid until {_day(self.begins)}, so clients reject it. Check the system clock."
        return ""

    def soon(self, now: datetime) -> str:
        """A warning that it expires soon; empty if it does not, or if it is invalid already. Pure."""
        if self.wrong(now) or self.ends - now > SOON:
            return ""
        return f"the certificate of {self.setting} expires on {_day(self.ends)}, in {(self.ends - now).days} days. {RENEW}"


RENEW = "Renew it, then restart the processes that use it."


def dates_of(setting: str, file: Path | None) -> list[Dates]:
    """The dates of the first certificate of a file, which is the one that is presented; empty without a file.

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
