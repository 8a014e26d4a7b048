from tests.unit.context.conversations import COUNTER, long_talk
from utils.context.memory import Memories, Memory
from utils.context.pipeline import Parts, Request, prepare
from utils.context.policy import standard


async def remember(memory: Memory, turns: int = 3) -> None:
    await prepare(Request(long_talk(turns)), standard(128_000), Parts(COUNTER, memory=memory))


async def test_the_conversations_that_were_used_last_are_remembered_and_no_more():
    memories = Memories(conversations=2)
    for scope in ("a", "b", "a", "c"):
        await remember(memories.of(scope))
    assert len(memories) == 2
    assert memories.of("a").count > 0
    assert memories.of("b").count == 0


async def test_long_conversations_are_forgotten_sooner_but_never_the_one_in_use():
    memories = Memories(characters=10)
    await remember(memories.of("a"))
    await remember(memories.of("b"))
    assert memories.of("b").count > 0
    assert len(memories) == 1


async def test_a_forgotten_conversation_leaves_nothing_in_memory():
    memories = Memories()
    await remember(memories.of("a"))
    memories.forget("a")
    assert len(memories) == 0


async def test_two_requests_at_once_never_share_what_they_remember():
    memory = Memory()
    await remember(memory)
    assert memory.take() is not None
    assert memory.take() is None
