from types import SimpleNamespace

from utils.context.learnt_windows import SMALLEST, LearntWindows, ModelKey, key_of

BIG, SMALL = ModelKey("big", "https://one"), ModelKey("small", "https://one")


def test_a_window_belongs_to_a_model_at_an_address():
    windows = LearntWindows()
    windows.learn(SMALL, 8_000, 1.2)
    assert windows.of(BIG) is None
    assert windows.of(ModelKey("small", "https://two")) is None
    known = windows.of(SMALL)
    assert known is not None
    assert (known.tokens, known.ratio) == (8_000, 1.2)


def test_a_window_expires():
    now = [0.0]
    windows = LearntWindows(seconds=60, clock=lambda: now[0])
    windows.learn(SMALL, 8_000, 1.0)
    now[0] = 59.0
    assert windows.of(SMALL) is not None
    now[0] = 60.0
    assert windows.of(SMALL) is None


def test_no_window_is_smaller_than_the_smallest():
    windows = LearntWindows()
    windows.learn(SMALL, 100, 1.0)
    known = windows.of(SMALL)
    assert known is not None
    assert known.tokens == SMALLEST


def test_the_key_of_a_client_is_its_model_and_address():
    client = SimpleNamespace(model_name="gpt-4o", openai_api_base="http://model/v1")
    assert key_of(client) == ModelKey("gpt-4o", "http://model/v1")
    assert key_of(SimpleNamespace(model_id="claude", region_name="eu-west-1")) == ModelKey(
        "claude", "eu-west-1"
    )
