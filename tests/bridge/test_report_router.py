from app.protocol.output import FinishReason, Output


async def test_each_output_reaches_the_tab_that_asked(qloop, workspace, load) -> None:
    thread = load()
    sessions = [workspace.new_chat() for _ in range(3)]
    for number, session in enumerate(sessions):
        session.send(f"question {number}")
    one, two, three = thread.submitted
    thread.report(
        Output(three.request_id, three.chat_id, "third"),
        Output(one.request_id, one.chat_id, "first", FinishReason.STOP),
        Output(two.request_id, two.chat_id, "second"),
    )

    assert [session.chat.turns[-1].text for session in sessions] == ["first", "second", "third"]
    assert [session.is_busy for session in sessions] == [False, True, True]


async def test_of_several_answers_each_output_reaches_its_own(qloop, workspace, load) -> None:
    thread = load()
    session = workspace.new_chat()
    session.send("a name?")
    thread.answer(thread.submitted[0], "Ann", FinishReason.STOP)
    ways = session.answer_in_ways(2)
    for request, text in zip(thread.submitted[1:], ("Bob", "Cleo"), strict=True):
        thread.answer(request, text)
    assert [way.text for way in ways] == ["Bob", "Cleo"]


async def test_outputs_of_a_chat_that_was_given_up_go_nowhere(qloop, workspace, load) -> None:
    thread = load()
    closed, open_one = workspace.new_chat(), workspace.new_chat()
    closed.send("one")
    open_one.send("two")
    workspace.discard(closed.chat.id)
    thread.answer(thread.submitted[0], "late", FinishReason.ABORT)
    thread.answer(thread.submitted[1], "2", FinishReason.STOP)

    assert closed.chat.turns[-1].text == ""
    assert open_one.chat.turns[-1].text == "2"
