import asyncio

from app.bridge.tasks import finish_all, spawn


async def test_an_error_reaches_the_loops_exception_handler(qloop) -> None:
    reported: list[dict[str, object]] = []
    qloop.set_exception_handler(lambda _loop, context: reported.append(context))

    async def broken() -> None:
        raise ValueError("oops")

    spawn(broken())
    await finish_all()
    await asyncio.sleep(0)
    assert str(reported[0]["exception"]) == "oops"
    assert "broken" in str(reported[0]["message"])


async def test_finish_all_waits_for_what_was_spawned(qloop) -> None:
    done: list[int] = []

    async def work(number: int) -> None:
        await asyncio.sleep(0.001 * number)
        done.append(number)

    for number in (3, 1, 2):
        spawn(work(number))
    await finish_all()
    assert done == [1, 2, 3]


async def test_finish_all_waits_for_what_a_task_spawns_in_turn(qloop) -> None:
    done: list[str] = []

    async def second() -> None:
        await asyncio.sleep(0.001)
        done.append("second")

    async def first() -> None:
        await asyncio.sleep(0.001)
        spawn(second())

    spawn(first())
    await finish_all()
    assert done == ["second"]
