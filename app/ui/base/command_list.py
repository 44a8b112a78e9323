"""The words and the keys of the window's commands. A new command is a line here, and its action in a menu."""

from typing import NamedTuple

from PySide6.QtGui import QKeySequence

Key = QKeySequence.StandardKey
Shortcut = QKeySequence.StandardKey | str


class Words(NamedTuple):
    """Translated where the action is made. The menu shows the first key. `needs` is what enables it."""

    text: str
    tip: str
    keys: Shortcut | tuple[Shortcut, ...] = ()
    needs: str = ""


# By names that never change, whatever the language: settings and palette identify commands by them.
COMMANDS = {
    # File
    "chat.new": Words("&New chat", "Open a new chat in a new tab", ("Ctrl+T", "Ctrl+N")),
    "chat.new-notebook": Words(
        "New note&book", "Open a page of plain text that the model continues", "Ctrl+Shift+N"
    ),
    "chat.reopen": Words(
        "&Reopen closed chat", "Reopen the tab closed last", "Ctrl+Shift+T", "No chat has been closed."
    ),
    "chat.new-folder": Words("New f&older", "Create a folder in the list of chats"),
    "chat.close": Words("&Close chat", "Close this tab; it can be reopened", "Ctrl+W"),
    "chat.export": Words("&Export chat…", "Save this chat as Markdown, HTML or JSON", "Ctrl+Shift+S"),
    "chat.export-all": Words("Export &all chats…", "Save all chats in one file, or one file per chat"),
    "chat.import": Words(
        "&Import chats…", "Import chats from Skein, ChatGPT, Open WebUI, LM Studio, Jan or llama.cpp"
    ),
    "chat.import-folder": Words(
        "Import chats from a &folder…", "Import all chats in a folder, such as LM Studio's or Jan's"
    ),
    "app.quit": Words("&Quit", "Save everything and quit", "Ctrl+Q"),
    # Edit
    "edit.undo": Words("&Undo", "Undo the last change", Key.Undo),
    "edit.redo": Words("&Redo", "Redo the last change", Key.Redo),
    "edit.cut": Words("Cu&t", "Cut the selected text", Key.Cut),
    "edit.copy": Words("&Copy", "Copy the selected text", Key.Copy),
    "edit.paste": Words("&Paste", "Paste text", Key.Paste),
    "edit.select-all": Words("Select &all", "Select all", Key.SelectAll),
    "chat.find": Words("&Find in chat…", "Find words in this chat", Key.Find, "This chat is empty."),
    "chat.find-next": Words("Find &next", "Next match", Key.FindNext, "This chat is empty."),
    "chat.find-previous": Words("Find pre&vious", "Previous match", Key.FindPrevious, "This chat is empty."),
    "app.settings": Words("&Settings…", "Open the settings", "Ctrl+,"),
    # View
    "view.filter-chats": Words("&Filter list of chats", "Filter the list of chats by title", "Ctrl+Shift+B"),
    "chat.search": Words("&Search all chats…", "Find a chat by its title or any message", "Ctrl+K"),
    "view.sidebar": Words("&List of chats", "Show or hide the list of chats", "Ctrl+B"),
    "view.palette": Words("&Command palette…", "Find a command, chat or setting by name", "Ctrl+Shift+P"),
    "view.zoom-in": Words("&Larger", "Larger text", (Key.ZoomIn, "Ctrl+=")),
    "view.zoom-out": Words("&Smaller", "Smaller text", Key.ZoomOut),
    "view.zoom-reset": Words("&Reset size", "Reset the text size", "Ctrl+0"),
    "view.full-screen": Words("F&ull screen", "Switch full screen on or off"),
    "view.next-pane": Words("Next &pane", "Move the focus to the next pane", "F6"),
    "view.previous-pane": Words("Previous p&ane", "Move the focus to the previous pane", "Shift+F6"),
    # Chat
    "chat.stop": Words(
        "&Stop answer",
        "Stop the answer in this tab, or loading a model",
        "Esc",
        "No answer is being written in this tab.",
    ),
    "chat.copy-answer": Words(
        "&Copy last answer", "Copy the last answer as Markdown", "Ctrl+Shift+C", "There is no answer yet."
    ),
    "chat.tokens": Words(
        "Token &probabilities",
        "Show the alternatives at each token of the last answer",
        "Ctrl+Alt+P",
        "There is no answer yet.",
    ),
    "message.previous-version": Words(
        "Previo&us version", "Show the previous version", "Alt+Left", "There is no other version."
    ),
    "message.next-version": Words(
        "Ne&xt version", "Show the next version", "Alt+Right", "There is no other version."
    ),
    "message.add": Words(
        "Add as my messa&ge",
        "Add the draft as your message without asking for an answer",
        needs="Write something first, and wait for the running answer.",
    ),
    "message.add-answer": Words(
        "Add as mode&l's answer",
        "Add the draft as an answer, as if the model had written it",
        needs="Write something first, and wait for the running answer.",
    ),
    "chat.attach": Words("&Attach files…", "Attach files to the next message", "Ctrl+Shift+A"),
    "chat.screenshot": Words(
        "Attach a sc&reenshot…",
        "Attach a part of the screen, or all of it, to the next message",
        needs="The current model cannot see pictures.",
    ),
    "chat.sum-up": Words(
        "Sum up earlier messa&ges",
        "A summary takes the place of what was said so far, for the model; the messages stay",
        needs="There must be an answer that is not summed up, and a loaded model with a chat template.",
    ),
    "chat.tasks": Words(
        "Split i&nto parallel tasks…",
        "Have several tasks worked on at once, each in a fork of this chat",
        needs="Load a model first, and wait for the running answer.",
    ),
    "chat.fork": Words("&Fork chat", "Continue in a copy of this chat", "Ctrl+Shift+K"),
    "chat.settings": Words(
        "Chat s&ettings…", "System prompt, sampling and context of this chat", "Ctrl+Shift+L"
    ),
    "chat.tools": Words("T&ools of this chat…", "Tools the model may call in this chat", "Ctrl+Shift+O"),
    "chat.told": Words(
        "&What this chat was told…",
        "The text that stands before its messages: instructions, documents, facts",
    ),
    "chat.shelf": Words("Shelf of th&is chat…", "Files that the model reads in this chat"),
    "chat.allow-tool": Words(
        "Allow tool ca&ll",
        "Run the call that waits for you, once",
        "Ctrl+Shift+Y",
        "No call of a tool waits for you in this tab.",
    ),
    "chat.refuse-tool": Words(
        "Ref&use tool call",
        "Tell the model that you refused the call that waits for you",
        "Ctrl+Shift+R",
        "No call of a tool waits for you in this tab.",
    ),
    "tab.next": Words("&Next tab", "Show the next tab", ("Ctrl+Tab", "Ctrl+PgDown")),
    "tab.previous": Words("&Previous tab", "Show the previous tab", ("Ctrl+Shift+Tab", "Ctrl+PgUp")),
    "tab.move-right": Words("Move tab &right", "Move this tab one place to the right", "Ctrl+Shift+PgDown"),
    "tab.move-left": Words("Move tab &left", "Move this tab one place to the left", "Ctrl+Shift+PgUp"),
    "tab.pin": Words("P&in tab", "Keep this tab at the left, or unpin it"),
    "tab.rename": Words("R&ename chat…", "Change this chat's title"),
    "tab.close-others": Words("Close &others", "Close all other tabs"),
    "tab.close-right": Words("Close to the ri&ght", "Close all tabs to the right"),
    "tab.split": Words("Split &view", "Show two chats side by side, or go back to one", "Ctrl+\\"),
    "tab.other-side": Words(
        "Ot&her side", "Switch to the other side of the split view, or open one", "Ctrl+Alt+\\"
    ),
    "tab.window": Words(
        "Mo&ve to its own window", "Show this chat in a window of its own, or move it back", "Ctrl+Shift+D"
    ),
    "chat.delete": Words("&Delete chat", "Move this chat to the trash", "Ctrl+Shift+Backspace"),
    "chat.trash": Words("Tras&h…", "Restore deleted chats, or delete them permanently"),
    # Model
    "model.switch": Words("S&witch model…", "Choose the model that answers", "Ctrl+Alt+M"),
    "model.engine": Words("Add an e&ngine…", "Models that a server runs, on this machine or another"),
    "model.hub": Words("&Get more models…", "Models to download that fit this machine"),
    "model.open": Words("&Open model…", "Open a model from a GGUF file", "Ctrl+O"),
    "model.library": Words("&Models…", "Models on this machine, and where to get more", "Ctrl+Shift+M"),
    "model.load-settings": Words(
        "Model load &settings…",
        "Context, speed and memory of the current model",
        needs="No model has been opened.",
    ),
    "model.reload": Words(
        "Re&load model", "Load the same file again, with an empty KV cache", needs="No model has been opened."
    ),
    "model.cancel-load": Words(
        "&Cancel loading",
        "Stop loading; the current model stays",
        needs="No model is being loaded.",
    ),
    "model.for-all": Words(
        "&Use in all open chats",
        "All open chats are answered by the model of this one",
        needs="All open chats have this model.",
    ),
    "model.pin": Words(
        "&Keep loaded",
        "The model stays in memory, also when another one needs room or it is idle",
        needs="No model has been opened.",
    ),
    "model.sleep": Words(
        "E&ject",
        "Free the model's memory; the next message loads it again",
        needs="No model is loaded, or it is answering.",
    ),
    "engine.stop-all": Words(
        "Stop &all answers", "Stop the answers of all chats", "Shift+Esc", "No answer is being written."
    ),
    "engine.settings": Words("&Engine settings…", "Threads and scheduling"),
    "context.settings": Words("Conte&xt settings…", "Context size, slots, and the limit per chat"),
    # Tools
    "api.switch": Words("&Local API", "Let other programs on this computer use the model"),
    "api.copy-address": Words(
        "Copy API &address", "The base URL for other programs", needs="The local API is off."
    ),
    "api.copy-key": Words(
        "Copy API &key",
        "The key other programs must send",
        needs="The key is created when the local API is first turned on.",
    ),
    "api.open": Words("Co&nnect other programs…", "Address, key and an example for other programs"),
    "tools.settings": Words("Tools and &MCP servers…", "Built-in tools, MCP servers, and their permissions"),
    "tools.shelves": Words("S&helves…", "Sets of files that chats read or search"),
    "tools.rows": Words("&Rows…", "Ask one prompt about each row of a table"),
    "tools.backups": Words("&Backups…", "Back up all chats, or restore a backup"),
    "tools.self-test": Words(
        "&Self-test…", "Check that chats do not affect each other's answers, with this model on this computer"
    ),
    # Help
    "help.guide": Words("&Guide", "How Skein works, page by page"),
    "help.shortcuts": Words(
        "&Keyboard shortcuts", "Show and change all keyboard shortcuts", (Key.HelpContents, "Ctrl+/")
    ),
    "help.log": Words("L&og…", "Show what Skein has logged since it started"),
    "help.data-folder": Words("Open &data folder", "Show the folder with the chats in the file browser"),
    "help.log-folder": Words("Open &log folder", "Show the folder with the logs in the file browser"),
    "app.about": Words("&About Skein", "Version, diagnostics and licences"),
}
