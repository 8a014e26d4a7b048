"""Which URLs of webhooks may be called."""

from __future__ import annotations

from a2a.utils.errors import InvalidParamsError

from utils.a2a_common.handler.webhooks import UrlRule
from utils.net.url_guard import ForbiddenUrl, check_form, checked_target


def url_rule(*, allow_private: bool) -> UrlRule:
    """Refuses the URL of a webhook that may not be called, with the reason.

    Where any address is allowed, the host need not be known yet: it is resolved for each delivery.
    """

    async def rule(url: str) -> None:
        try:
            if allow_private:
                check_form(url)
            else:
                await checked_target(url, allow_private=False)
        except ForbiddenUrl as error:
            raise InvalidParamsError(f"Push notification URL refused. {error}") from None

    return rule
