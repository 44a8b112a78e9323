import json

from app.chats.chat import Chat, Turn, TurnState
from app.chats.tool_use import REFUSED, STOPPED, ToolRound, ToolState, ToolUse, result_for_model
from app.protocol.request import Message, Role


def answer(*rounds: ToolRound, text: str = "It rains.") -> Turn:
    return Turn(Role.ASSISTANT, text, rounds=list(rounds))


def test_calls_and_results_stand_before_the_text_in_their_order() -> None:
    uses = [
        ToolUse("1", "look", '{"city": "A"}', ToolState.DONE, "a"),
        ToolUse("2", "look", "{broken", ToolState.FAILED, "No JSON."),
        ToolUse("3", "look", "{}", ToolState.REFUSED),
        ToolUse("4", "look", "{}", ToolState.STOPPED),
    ]
    called, *results, text = answer(ToolRound("raw", "Look:", "Hm.", uses, is_whole=True)).messages
    fields = json.loads(called.fields)
    assert (called.content, called.written, fields["reasoning_content"]) == ("Look:", "raw", "Hm.")
    assert [call["function"]["arguments"] for call in fields["tool_calls"]] == [{"city": "A"}, {}, {}, {}]
    assert [one.content for one in results] == ["a", "No JSON.", REFUSED, STOPPED]
    assert [json.loads(one.fields)["tool_call_id"] for one in results] == ["1", "2", "3", "4"]
    assert (text.content, text.written) == ("It rains.", "It rains.")


def test_a_part_that_was_stopped_while_it_was_written_is_text() -> None:
    uses = [ToolUse("1", "look", '{"ci', ToolState.STOPPED)]
    assert answer(ToolRound("Hm. «look", "Hm. ", uses=uses), text="").messages == (
        Message(Role.ASSISTANT, "Hm. ", written="Hm. «look"),
    )


def test_an_answer_without_calls_is_a_message_as_before() -> None:
    assert answer().messages == (Message(Role.ASSISTANT, "It rains."),)


def test_of_a_long_result_the_beginning_is_told_and_how_to_read_on() -> None:
    use = ToolUse("c7", "look", "{}", ToolState.DONE, "line\n" * 1000, num_told=50)
    told = result_for_model(use)
    assert told.startswith("line\n" * 10 + "\n[4,950 of 5,000 characters follow.")
    assert "call_id c7 and offset 50" in told


def test_an_answer_that_failed_after_its_calls_hides_no_question() -> None:
    failed = answer(
        ToolRound("x", uses=[ToolUse("1", "look", "{}", ToolState.DONE, "a")], is_whole=True), text=""
    )
    failed.state = TurnState.FAILED
    chat = Chat(turns=[Turn(Role.USER, "Look"), failed, Turn(Role.USER, "Again")])
    assert [one.role for one in chat.messages()] == [Role.USER, Role.ASSISTANT, Role.TOOL, Role.USER]
