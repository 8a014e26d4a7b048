"""What secrets look like: the formats of known issuers, and the context of a secret of any format. Pure.

Rules of repository scanners do not suit a log: they omit whatever is not certainly a secret, or match every random-looking word.
In a log a false positive costs one word, but IDs have to stay readable.
"""

from __future__ import annotations

import re

_ISSUED = (
    r"gh[pousr]_[A-Za-z0-9]{16,}",  # GitHub
    r"github_pat_[A-Za-z0-9_]{20,}",
    r"\bv1\.[0-9a-f]{40}\b",
    r"gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|oas|soat|ffct)-[A-Za-z0-9_.-]{16,}",  # GitLab
    r"\b(?:sk|sess)-[A-Za-z0-9_-]{16,}",  # OpenAI, Anthropic
    r"[sr]k_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{16,}",  # Stripe
    r"\b(?:gsk|xai|r8|pplx|nvapi|tgp_v1)[_-][A-Za-z0-9_-]{20,}",  # Groq, xAI, Replicate, Perplexity, NVIDIA, Together
    r"(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}",  # AWS
    r"AIza[0-9A-Za-z_-]{30,}|GOCSPX-[A-Za-z0-9_-]{16,}|ya29\.[A-Za-z0-9_-]{16,}|\b1//0[A-Za-z0-9_-]{30,}",  # Google
    r"xox[abeoprs]-[A-Za-z0-9-]{10,}|xoxe\.[A-Za-z0-9.-]{10,}|xapp-[A-Za-z0-9-]{10,}",  # Slack
    r"(?<=hooks\.slack\.com/)(?:services|workflows|triggers)/[A-Za-z0-9/_-]{10,}",
    r"(?<=/api/webhooks/)[0-9]{10,40}/[A-Za-z0-9_-]{20,}",  # Discord
    r"(?<=\.webhook\.office\.com/)webhookb2/[A-Za-z0-9@/_-]{20,}",  # Teams
    r"\b[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}",  # Discord
    r"\b[0-9]{8,10}:AA[A-Za-z0-9_-]{33}",  # Telegram
    r"(?:npm|hf)_[A-Za-z0-9]{20,}|api_org_[A-Za-z0-9]{20,}",
    r"pypi-[A-Za-z0-9_-]{20,}|rubygems_[a-f0-9]{40,}|\bcio[A-Za-z0-9]{32}\b",  # registries of packages
    r"dckr_[a-z]{2,5}_[A-Za-z0-9_-]{16,}",  # Docker
    r"\bhv[sbr]\.[A-Za-z0-9_-]{20,}|\bs\.[A-Za-z0-9]{24}\b",  # Vault
    r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|\bkey-[0-9a-f]{32}\b|\b[0-9a-f]{32}-us[0-9]{1,2}\b",  # mail services
    r"\bSK[0-9a-f]{32}\b",  # Twilio
    r"do[opr]_v1_[a-f0-9]{32,}",  # DigitalOcean
    r"gls?[ac]_[A-Za-z0-9_+/=-]{20,}|glsa_[A-Za-z0-9_]{20,}",  # Grafana
    r"lin_(?:api|oauth)_[A-Za-z0-9]{20,}|ntn_[A-Za-z0-9]{20,}|fig[dr]_[A-Za-z0-9_-]{20,}",  # Linear, Notion, Figma
    r"AT(?:ATT|CTT|BB)[A-Za-z0-9_=.-]{20,}",  # Atlassian
    r"AGE-SECRET-KEY-1[0-9A-Z]{20,}",
    r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}|sq0(?:atp|csp|idp)-[A-Za-z0-9_-]{20,}|EAAA[A-Za-z0-9_-]{50,}",  # Shopify, Square
    r"NRAK-[A-Z0-9]{20,}|sntry[su]_[A-Za-z0-9_=+/-]{20,}|\bphx_[A-Za-z0-9]{20,}",  # New Relic, Sentry, PostHog
    r"\bdapi[a-f0-9]{32}|\bdp\.[a-z]{2,5}\.[A-Za-z0-9._-]{30,}|\bfo1_[A-Za-z0-9_-]{20,}|\bFlyV1 [A-Za-z0-9_,+/=-]{20,}",
    r"HRKU-[A-Za-z0-9_-]{20,}|PMAK-[A-Za-z0-9-]{20,}|\bpul-[a-f0-9]{40}|[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{40,}",
    r"pscale_[a-z]{2,5}_[A-Za-z0-9_.-]{20,}|\bsb(?:p|_secret)_[A-Za-z0-9_]{20,}|\bvc[pk]_[A-Za-z0-9]{20,}",
    r"eyJ(?:[A-Za-df-z0-9_-]|e(?!y)|ey(?!J)){8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",  # JSON web tokens
    r"-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----[^-]*(?:-----END [A-Z ]*-----)?",
    r"\bpe_[A-Za-z0-9_-]{40,}",  # our own API keys
)

_AROUND = (
    r"(?i:\b(?:bearer|basic|apikey)\s+)[A-Za-z0-9._~+/=-]{8,}",
    r"(?<=://)[^/\s:@\"'<>]*:[^/\s\"'<>]+(?=@)",  # credentials in a URL
)

KNOWN = re.compile("|".join((*_ISSUED, *_AROUND)))
"""Secrets of known formats."""

NAME_WORDS = (
    r"(?:secret|pass(?:word|wd|phrase|code)|\bpwd|api[_-]?key|(?:access|account|private|signing|encryption|master)[_-]?key"
    r"|authorization|credential|cookie|signature)"
)
"""Words in the name of a secret."""

HEADER = re.compile(
    r"(?i)((?:proxy-)?authorization|(?:set-)?cookie|x-api-key)(\\?[\"']?\s{0,3}[:=]\s{0,3})"
    r"(?:(\\?\")[^\"\n]*|(')[^'\n]*|([^\s\"'][^\n]*))"
)
"""Headers with secrets: the value extends to the closing quote or the end of the line."""

NAMED = re.compile(
    rf"(?i)((?:token(?!s)|{NAME_WORDS})[\w-]{{0,20}}\\?[\"']?\s{{0,3}}[=:]\s{{0,3}}|\b(?:pass|sig|pin|otp|code_verifier)[\"']?=)"
    r"(?:(\\\")[^\"\n]{1,4000}|(\")[^\"\n]{1,4000}|(')[^'\n]{1,4000}|([^\s\"'&,;]{4,}))"
)
"""`password=…`, `"api_key": "…"`, `?access_token=…`: the name is kept, the value is redacted up to its closing quote, if it has one."""
