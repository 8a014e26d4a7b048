"""Recognises a question for something that should not be disclosed, such as a password. Pure.

It decides about a warning alone: a question that it does not recognise is asked without one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_WORDS = (
    r"pass\s*words?|pass\s*phrases?|pass\s*codes?|pins?|secrets?|credentials?|tokens?|otp|2fa|api[\s_-]*keys?|"
    r"(?:access|private|secret|ssh|recovery|security|verification|one[\s-]*time)[\s_-]*(?:keys?|codes?)|"
    r"cookies?|card\s*numbers?|cvv|iban|"
    r"passw(?:ö|oe|o)rt(?:er|es|e)?|kennw(?:ö|oe|o)rt(?:er|es|e)?|zugangsdaten|schl(?:ü|ue)ssel|"
    r"mots?\s+de\s+passe|jetons?|cl[ée]s?|contrase(?:ñ|n)as?|claves?|senhas?|chaves?"
)
_SECRET = re.compile(rf"(?<![^\W_])(?:{_WORDS})(?![^\W_])", re.IGNORECASE)
_CJK = re.compile("密码|口令|令牌|密钥|パスワード|トークン|秘密|鍵|비밀번호|토큰")

LONGEST = 20_000
"""Characters of a question and its form that are looked at, in 6 ms. Nobody reads a longer one to its end, where anything may be asked."""


def asks_for_secret(question: str, form: Mapping[str, Any] | None) -> bool:
    """Whether a question, or a field of its form, names something like a password, a key or a token, or is too long to tell."""
    said = question if form is None else f"{question} {json.dumps(form, ensure_ascii=False, default=str)}"
    if len(said) > LONGEST:
        return True
    return bool(_SECRET.search(said.replace("_", " ")) or _CJK.search(said))
