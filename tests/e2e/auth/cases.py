"""What is refused: credentials that prove nothing, each for one reason."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.e2e.auth.keys import b64, ec_key, rsa_key, segment, signed, with_public_key_as_secret
from tests.e2e.auth.provider import DOWN, GOOD, HUGE, LIAR, OTHER, PLAIN, REDIRECTED, Provider
from utils.auth.service_tokens import Signer, key_in


@dataclass(frozen=True)
class Sent:
    """What a caller sends besides its message.

    Attributes:
        headers: Over HTTP as headers, over gRPC as metadata.
        query: Over HTTP alone.
        fields: Further fields of the request.
    """

    headers: list[tuple[str, str]] = field(default_factory=list)
    query: str = ""
    fields: dict[str, Any] = field(default_factory=dict)


Make = Callable[[Provider, str], Sent]


@dataclass(frozen=True)
class Case:
    """One refusal: its number in the list of the design, and what is sent to the agent of that name."""

    number: str
    name: str
    make: Make
    status: int = 401
    only_http: bool = False


def bearer(token: str, **more: Any) -> Sent:
    return Sent([("authorization", f"Bearer {token}")], **more)


def cases(service_key: Any) -> Iterator[Case]:
    """All of them."""
    yield from _of_the_header()
    yield from _of_the_algorithm()
    yield from _of_the_key()
    yield from _of_the_signature()
    yield from _of_the_claims()
    yield from _of_the_rights(service_key)
    yield from _of_the_form()
    yield from _of_the_provider()


def _of_the_header() -> Iterator[Case]:
    yield Case("1", "nothing", lambda _p, _a: Sent())
    yield Case("2", "an empty header", lambda _p, _a: Sent([("authorization", "")]))
    yield Case("2", "an empty token", lambda _p, _a: Sent([("authorization", "Bearer")]))
    yield Case("3", "basic", lambda _p, _a: Sent([("authorization", "Basic YW5uOmFubg==")]))
    yield Case("4", "two tokens in one header", lambda p, a: bearer(f"{p.token(a)}, Bearer {p.token(a)}"))
    yield Case("4", "two tokens with a space", lambda p, a: bearer(f"{p.token(a)} {p.token(a)}"))
    yield Case("5", "two headers", lambda p, a: Sent(2 * [("authorization", f"Bearer {p.token(a)}")]))
    yield Case("6", "in the query", lambda p, a: Sent(query=f"access_token={p.token(a)}"), only_http=True)
    yield Case("7", "in the body", lambda p, a: Sent(fields={"metadata": {"access_token": p.token(a)}}))
    yield Case("8", "in a cookie", lambda p, a: Sent([("cookie", f"access_token={p.token(a)}")]))


def _of_the_algorithm() -> Iterator[Case]:
    for name in ("none", "NONE", "nOnE"):
        yield Case("9", f"alg {name}", _unsigned(name))
    yield Case("10", "HS256 with the public key", _hs256)
    for name in ("RS1", "HS512", "RS512", "ES256K"):
        yield Case("11", f"alg {name}", _with({"alg": name}))
    yield Case("12", "another algorithm than the key's", _with({"kid": "ec-1"}))


def _unsigned(name: str) -> Make:
    def make(p: Provider, a: str) -> Sent:
        text = f"{segment({'alg': name, 'typ': 'at+jwt'})}.{segment(p.claims(a))}"
        return bearer(f"{text}.")

    return make


def _hs256(p: Provider, a: str) -> Sent:
    key = p.keys[GOOD][0]
    return bearer(signed({"alg": "HS256", "kid": "rsa-1"}, p.claims(a), with_public_key_as_secret(key)))


def _with(header: dict[str, Any], **claims: Any) -> Make:
    return lambda p, a: bearer(p.token(a, header=header, **claims))


def _signed_by(number: int) -> Make:
    return lambda p, a: bearer(p.token(a, key=p.keys[GOOD][number]))


def _of_the_key() -> Iterator[Case]:
    yield Case("13", "a key for encryption", _signed_by(4))
    yield Case("13", "a key for signing alone", _signed_by(5))
    yield Case("14", "an unknown key", _with({"kid": "nobody"}))
    yield Case("15", "no key among several", _with({"kid": None}))
    for kid in ("../../etc/passwd", "x' OR '1'='1", "k" * 2048, 7, ""):
        yield Case("16", f"kid {str(kid)[:20]!r}", _with({"kid": kid}))
    attacker = rsa_key("rsa-1")
    yield Case(
        "17", "its own key", lambda p, a: bearer(p.token(a, key=attacker, header={"jwk": dict(attacker.jwk)}))
    )
    for name in ("jku", "x5u"):
        yield Case("18", name, _with({name: "https://evil.example/keys"}))
    yield Case("19", "x5c", lambda p, a: bearer(p.token(a, key=attacker, header={"x5c": ["MIIB"]})))
    yield Case("20", "crit", _with({"crit": ["exp"], "exp": 1}))
    yield Case("21", "b64", _with({"b64": False, "crit": ["b64"]}))
    yield Case(
        "22", "encrypted", lambda p, a: bearer(f"{segment({'alg': 'RSA-OAEP', 'enc': 'A256GCM'})}.a.b.c.d")
    )


def _of_the_signature() -> Iterator[Case]:
    attacker = rsa_key("rsa-1")
    yield Case("23", "signed by another", lambda p, a: bearer(p.token(a, key=attacker)))
    yield Case("23", "changed claims", _changed)
    yield Case("24", "no signature", lambda p, a: bearer(p.token(a).rpartition(".")[0] + "."))
    yield Case("24", "no last part", lambda p, a: bearer(p.token(a).rpartition(".")[0]))
    for name, signature in {
        "zero": bytes(64),
        "short": bytes(63),
        "long": bytes(65),
        "DER": b"\x30\x06" + bytes(6),
    }.items():
        yield Case("25", f"ECDSA {name}", _ec_with(signature))
    yield Case("26", "a small key", _signed_by(3))


def _changed(p: Provider, a: str) -> Sent:
    header, _, signature = p.token(a).split(".")
    return bearer(f"{header}.{segment(p.claims(a, sub='bob'))}.{signature}")


def _ec_with(signature: bytes) -> Make:
    def make(p: Provider, a: str) -> Sent:
        text = p.token(a, key=p.keys[GOOD][1]).rpartition(".")[0]
        return bearer(f"{text}.{b64(signature)}")

    return make


def _claim(**changes: Any) -> Make:
    return lambda p, a: bearer(p.token(a, **changes))


def _of_the_claims() -> Iterator[Case]:
    now = time.time()
    yield Case("27", "expired", lambda p, a: bearer(p.token(a, exp=int(time.time()) - 31)))
    yield Case("28", "no exp", _claim(exp=None))
    yield Case("29", "not yet", _claim(nbf=now + 3600))
    yield Case("29", "issued in the future", _claim(iat=now + 3600))
    wrong: list[Any] = ["2999999999", -1, True, [], 0]
    for value in wrong:
        yield Case("30", f"exp {value!r}", _claim(exp=value))
    for text in ("NaN", "1e400", "Infinity"):
        yield Case("30", f"exp {text}", _raw(f'"exp": {text}'))
    yield Case("31", "issuer with a slash", lambda p, a: bearer(p.token(a, iss=p.issuer() + "/")))
    yield Case("31", "issuer in capitals", lambda p, a: bearer(p.token(a, iss=p.issuer().upper())))
    yield Case("31", "an issuer that is not configured", _claim(iss="https://evil.example"))
    yield Case("31", "issuer A's key for issuer B", lambda p, a: bearer(p.token(a, iss=p.issuer(OTHER))))
    yield Case("31", "no issuer", _claim(iss=None))
    yield Case("32", "no audience", _claim(aud=None))
    yield Case("32", "another agent's audience", _claim(aud="words"))
    yield Case("32", "part of the audience", lambda p, a: bearer(p.token(a, aud=a[:-1])))
    yield Case("32", "an audience that holds it", lambda p, a: bearer(p.token(a, aud=[f"{a}x", f"x {a}"])))
    yield Case("33", "an ID token", _claim(nonce="n-1", at_hash="x"))
    yield Case("33", "another type", _with({"typ": "logout+jwt"}))
    for name, subject in {
        "no": None,
        "empty": "",
        "long": "x" * 300,
        "control": "ann\n",
        "number": 7,
    }.items():
        yield Case("34", f"{name} subject", _claim(sub=subject))
    yield Case("35", "no tenant", _claim(tenant=None))
    yield Case("35", "a tenant that is no text", _claim(tenant=["acme"]))
    yield Case(
        "35",
        "another tenant in the request",
        lambda p, a: bearer(p.token(a), fields={"tenant": "other"}),
        403,
    )
    other = {"metadata": {"tenant": "other"}}
    yield Case("35", "another tenant in metadata", lambda p, a: bearer(p.token(a), fields=other), 403)


def _raw(claim: str) -> Make:
    def make(p: Provider, a: str) -> Sent:
        key = p.keys[GOOD][0]
        text = json.dumps(p.claims(a, exp=None))[:-1] + f", {claim}}}"
        return bearer(signed({"alg": "RS256", "kid": "rsa-1", "typ": "at+jwt"}, text, key.sign))

    return make


def _of_the_rights(service_key: Any) -> Iterator[Case]:
    yield Case("36", "no scope", _claim(scope=None), 403)
    yield Case("36", "another agent's scope", _claim(scope="agent:github:use"), 403)
    yield Case(
        "36",
        "the scope in another",
        lambda p, a: bearer(p.token(a, scope=f"agent:{a}x:use xagent:{a}:use")),
        403,
    )
    yield Case(
        "36", "the scope to administer", lambda p, a: bearer(p.token(a, scope=f"agent:{a}:admin")), 403
    )
    chain: dict[str, Any] = {"sub": "a"}
    for name in "bcd":
        chain = {"sub": name, "act": chain}
    yield Case("37", "four actors", _claim(act=chain))
    yield Case("37", "a circle of actors", _claim(act={"sub": "x", "act": {"sub": "ann"}}))
    yield Case("37", "an actor without a name", _claim(act={}))
    own, foreign = Signer(service_key, "platform-engineer"), Signer(_other_key(), "platform-engineer")
    yield Case("38", "a service token of somebody", lambda _p, a: bearer(foreign.token(a, "conversation")))
    yield Case(
        "38", "a service token for another agent", lambda _p, _a: bearer(own.token("other", "conversation"))
    )
    late = Signer(service_key, "platform-engineer", clock=lambda: time.time() - 3600)
    yield Case("38", "an old service token", lambda _p, a: bearer(late.token(a, "conversation")))


def _other_key() -> dict[str, Any]:
    made = ec_key("service")
    numbers = made.private.private_numbers().private_value
    return {**made.jwk, "d": b64(numbers.to_bytes(32, "big"))}


def _of_the_form() -> Iterator[Case]:
    yield Case("39", "9 KB", _claim(padding="x" * 9_000))
    deep: Any = 1
    for _ in range(20):
        deep = {"a": deep}
    yield Case("39", "deep", _claim(deep=deep))
    yield Case("39", "two subjects", _raw('"exp": 2999999999, "sub": "bob"'))
    yield Case("39", "no JSON", lambda _p, _a: bearer("a.b.c"))
    yield Case("39", "an unknown API key", lambda _p, _a: bearer("pe_" + "x" * 43))
    yield Case(
        "39", "not ASCII", lambda p, a: bearer(p.token(a) + "ü".encode().decode("latin-1")), only_http=True
    )


def _of_the_provider() -> Iterator[Case]:
    for name in (DOWN, REDIRECTED, HUGE, PLAIN, LIAR):
        yield Case("40", f"keys {name}", _claim(issued_by=name), status=503)


def service_key_in(home: Any) -> dict[str, Any]:
    """The key that the agents of a home share."""
    return key_in(home / "service-key.json")
