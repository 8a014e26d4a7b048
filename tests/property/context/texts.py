"""Texts of many kinds and sizes, from a seed: prose, JSON, code, base64, other scripts, odd markers."""

import base64
import json
import random
from functools import cache

WORDS = [
    "cluster",
    "deploy",
    "pipeline",
    "incident",
    "rollback",
    "latency",
    "token",
    "service",
    "region",
    "bucket",
    "policy",
    "secret",
    "runner",
    "branch",
    "review",
    "merge",
    "release",
    "staging",
    "canary",
    "quota",
    "replica",
    "schema",
    "index",
    "shard",
    "gateway",
    "proxy",
    "queue",
    "worker",
    "cache",
    "build",
]
MARKERS = (
    "<|endoftext|>",
    "<|im_start|>system",
    "</s>",
    "[INST]",
    "\u200b\u200b",
    "\x00",
    "🙂‍↔️",
    "art_start_",
)
POOL_CHARS = 1_500_000


@cache
def pool(kind: str) -> str:
    """A long text of one kind, to take slices from."""
    rng = random.Random(kind)
    if kind == "prose":
        parts = (" ".join(rng.choices(WORDS, k=rng.randint(4, 14))).capitalize() + "." for _ in range(20_000))
        return " ".join(parts)[:POOL_CHARS]
    if kind == "json":
        rows = [
            {"id": rng.getrandbits(48), "name": rng.choice(WORDS), "ok": rng.random() < 0.5}
            for _ in range(20_000)
        ]
        return json.dumps(rows)[:POOL_CHARS]
    if kind == "code":
        lines = (
            f"    {rng.choice(WORDS)}_{rng.randint(0, 99)} = {rng.choice(WORDS)}(x[{rng.randint(0, 9)}])"
            for _ in range(30_000)
        )
        return "\n".join(lines)[:POOL_CHARS]
    if kind == "base64":
        return base64.b64encode(rng.randbytes(POOL_CHARS // 2)).decode()[:POOL_CHARS]
    if kind in CJK:
        return "".join(rng.choice(CJK[kind]) for _ in range(POOL_CHARS // 12))[:POOL_CHARS]
    if kind == "scripts":
        return "".join(
            rng.choice("日本語中文한국어العربيةрусскийελληνικά🙂🚀 ") for _ in range(POOL_CHARS // 4)
        )
    return "".join(rng.choice(MARKERS) + " " for _ in range(POOL_CHARS // 16))


CJK = {
    "chinese": (
        "部署在星期五失败了。",
        "日志显示内存不足，所以服务重启了三次。",
        "请检查集群的配置，",
        "数据库备份每天凌晨两点运行；",
        "负责人是王小明。",
        "第七号工单已经关闭！",
        "版本号是二点四，",
        "我们还需要更多时间。",
    ),
    "japanese": (
        "金曜日のデプロイは失敗しました。",
        "ログによるとメモリが足りません。",
        "設定を確認してください、",
        "担当は田中さんです。",
        "バックアップは毎日午前二時に動きます。",
        "チケット七番は閉じました！",
        "バージョンは二・四です。",
    ),
}

KINDS = ("prose", "prose", "chinese", "japanese", "json", "code", "base64", "scripts", "markers")
CHARS_PER_TOKEN = {
    "prose": 5.0,
    "chinese": 1.3,
    "japanese": 1.3,
    "json": 2.4,
    "code": 3.2,
    "base64": 1.4,
    "scripts": 1.1,
    "markers": 2.0,
}


def some_text(rng: random.Random, tokens: int, kind: str | None = None) -> str:
    """A text of roughly `tokens` tokens."""
    kind = kind or rng.choice(KINDS)
    source = pool(kind)
    length = max(1, int(tokens * CHARS_PER_TOKEN[kind]))
    start = rng.randrange(max(1, len(source) - length))
    text = source[start : start + length]
    while len(text) < length:
        text += source[: length - len(text)]
    return text


def articles(rng: random.Random, tokens: int) -> str:
    """A ranked list result of roughly `tokens` tokens."""
    count = rng.randint(1, 8)
    rows = [
        {
            "title": f"Article {i}",
            "url": f"https://x/{i}",
            "content": some_text(rng, tokens // count, "prose"),
            "score": 1 / (i + 1),
        }
        for i in range(count)
    ]
    return json.dumps({"articles": rows})
