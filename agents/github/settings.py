"""Settings of the GitHub agent."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, SecretStr

from utils.settings import EnvSettings


class GitHubSettings(EnvSettings):
    """Address and token of GitHub, and limits on what is read at once."""

    api_url: str = Field(
        "https://api.github.com",
        alias="GITHUB_API_URL",
        pattern=r"^https?://\S+$",
        description="Address of the REST API; https://HOST/api/v3 for GitHub Enterprise Server.",
    )
    token: SecretStr | None = Field(
        None,
        alias="GITHUB_TOKEN",
        description="Access token. Without one, public data only and 60 requests an hour.",
    )
    timeout_seconds: float = Field(
        20, alias="GITHUB_TIMEOUT_SECONDS", gt=0, description="Longest wait for one answer of GitHub."
    )
    max_retries: int = Field(
        2,
        alias="GITHUB_MAX_RETRIES",
        ge=0,
        le=5,
        description="Retries of a request that GitHub did not answer.",
    )
    max_items: int = Field(
        100, alias="GITHUB_MAX_ITEMS", ge=1, le=1000, description="Longest list that one tool call returns."
    )
    write: bool = Field(
        False,
        alias="GITHUB_WRITE",
        description="Offer tools that comment, open issues and re-run workflows; each asks the user first.",
    )
    oauth_client_id: str | None = Field(
        None,
        alias="GITHUB_OAUTH_CLIENT_ID",
        pattern=r"^[\w.-]+$",
        description="Client id of an OAuth or GitHub App with the device flow: changes are then made with the authorisation of "
        "the user who asks. Needs AUTH_MODE.",
    )
    oauth_scopes: str = Field(
        "repo",
        alias="GITHUB_OAUTH_SCOPES",
        description="What users authorise, with spaces; public_repo for public repositories alone. A GitHub App has permissions instead.",
    )
    oauth_keys: SecretStr | None = Field(
        None,
        alias="GITHUB_OAUTH_KEYS",
        description="Keys, with commas, that encrypt stored authorisations: the first writes, all read. Those of "
        "ENCRYPTION_KEYS when unset, else one that is made in PLATFORM_ENGINEER_HOME; with DATABASE_URL one of both has to be set.",
    )
    app_id: str | None = Field(
        None,
        alias="GITHUB_APP_ID",
        pattern=r"^[\w.-]+$",
        description="Id of a GitHub App whose installation reads, instead of GITHUB_TOKEN; set only one of them.",
    )
    app_key_file: Path | None = Field(
        None, alias="GITHUB_APP_KEY_FILE", description="File with the private key of the GitHub App, as PEM."
    )
    app_installation_id: int | None = Field(
        None,
        alias="GITHUB_APP_INSTALLATION_ID",
        ge=1,
        description="Which installation of the GitHub App is used.",
    )
    use_gh: bool = Field(
        False,
        alias="GITHUB_USE_GH",
        description="Offer read-only commands of the gh program, where it is installed. Needs GITHUB_TOKEN.",
    )
    gh_timeout_seconds: float = Field(
        60, alias="GITHUB_GH_TIMEOUT_SECONDS", gt=0, description="Longest run of one gh command."
    )

    @property
    def has_shared(self) -> bool:
        """Whether requests carry a token of the installation."""
        return self.token is not None or self.app_id is not None
