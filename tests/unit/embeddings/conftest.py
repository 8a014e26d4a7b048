"""The tests of the model and of the cache of its vectors have it as the product does."""

import pytest

from tests.embedded import apart


@pytest.fixture(autouse=True, scope="module")
def own_model():
    with apart():
        yield
