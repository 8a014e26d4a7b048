"""AWS keys of the settings, for the clients of Amazon Bedrock; chat models use them too.

AWS' own library looks in the process environment only. Settings read a `.env` file as well, so what
stands there is handed to the client.
"""

from __future__ import annotations

from pydantic import SecretStr

from utils.errors import SettingsError
from utils.settings import ProviderSettings


def aws_keys(settings: ProviderSettings) -> dict[str, SecretStr]:
    """Arguments for the client; none where no key is set, so that AWS' library finds a profile or a role.

    Raises:
        SettingsError: One half of a key is set without the other.
    """
    key, secret, token = settings.aws_key, settings.aws_secret, settings.aws_token
    if key is None and secret is None:
        return {}
    if key is None or secret is None:
        missing, given = "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"
        if secret is None:
            missing, given = given, missing
        raise SettingsError(missing, f"Set {missing}: {given} needs it.")
    found = {"aws_access_key_id": key, "aws_secret_access_key": secret}
    return found if token is None else found | {"aws_session_token": token}
