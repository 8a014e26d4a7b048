import pytest

from utils.context.search import bm25
from utils.messages.words import words_of


@pytest.mark.parametrize(
    ("query", "passage"),
    [
        ("订单数据库的备份放在哪个存储桶里", "顺便说一下,订单数据库的备份放在存储桶红隼四十一号里。"),
        (
            "バックアップはどのバケットにありますか",
            "注文データベースのバックアップはバケット隼四十一号にあります。",
        ),
        ("백업은 어느 버킷에 있습니까", "주문 데이터베이스의 백업이 버킷 마흔하나에 있다."),
    ],
)
def test_recall_finds_passages_of_languages_without_blanks(query, passage):
    hits = bm25(query, ["商店的部署用了四分钟。", passage, "デプロイは四分かかりました。"], 3)
    assert hits
    assert hits[0].place == 1


def test_words_with_blanks_stay_whole():
    assert words_of("Restart pod-7 in eu") == ["restart", "pod", "7", "in", "eu"]
