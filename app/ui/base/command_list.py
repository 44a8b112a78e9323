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
    "chat.reopen": Words(
        "&Reopen closed chat", "Bring back the tab closed last", "Ctrl+Shift+T", "No chat was closed."
    ),
    "chat.new-folder": Words("New f&older", "Make a folder in the list of chats"),
    "chat.close": Words("&Close chat", "Close this tab; it can be reopened", "Ctrl+W"),
    "chat.export": Words(
        "&Export chat…", "Save this chat as Markdown, as a web page, or complete", "Ctrl+Shift+S"
    ),
    "chat.export-all": Words(
        "Export &all chats…", "Save all chats in one file, or each in a file of its own"
    ),
    "chat.import": Words(
        "&Import chats…", "Take over chats from Skein, ChatGPT, Open WebUI, LM Studio, Jan or llama.cpp"
    ),
    "chat.import-folder": Words(
        "Import chats from a &folder…", "Take over all chats in a folder, such as that of LM Studio or Jan"
    ),
    "app.quit": Words("&Quit", "Save everything and quit", "Ctrl+Q"),
    # Edit
    "edit.undo": Words("&Undo", "Take back the last change to the message", Key.Undo),
    "edit.redo": Words("&Redo", "Make it again", Key.Redo),
    "edit.cut": Words("Cu&t", "Cut the selected text", Key.Cut),
    "edit.copy": Words("&Copy", "Copy the selected text", Key.Copy),
    "edit.paste": Words("&Paste", "Paste text", Key.Paste),
    "edit.select-all": Words("Select &all", "Select all of this text", Key.SelectAll),
    "chat.find": Words("&Find in chat…", "Find words in this chat", Key.Find, "This chat is empty."),
    "chat.find-next": Words(
        "Find &next", "Go to the next place with these words", Key.FindNext, "This chat is empty."
    ),
    "chat.find-previous": Words(
        "Find pre&vious", "Go to the place before with these words", Key.FindPrevious, "This chat is empty."
    ),
    "app.settings": Words("&Settings…", "Everything that can be chosen, with a search", "Ctrl+,"),
    # View
    "view.filter-chats": Words(
        "&Filter list of chats", "Go to the field above the list of all chats", "Ctrl+Shift+B"
    ),
    "chat.search": Words(
        "&Search all chats…", "Find a chat by its title, or by anything that was said", "Ctrl+K"
    ),
    "view.sidebar": Words("&List of chats", "Show or hide all chats at the left", "Ctrl+B"),
    "view.palette": Words(
        "&Command palette…", "Find a command, a chat or a setting by its name", "Ctrl+Shift+P"
    ),
    "view.zoom-in": Words("&Larger", "Larger text", (Key.ZoomIn, "Ctrl+=")),
    "view.zoom-out": Words("&Smaller", "Smaller text", Key.ZoomOut),
    "view.zoom-reset": Words("&Usual size", "Text at its usual size", "Ctrl+0"),
    "view.full-screen": Words("F&ull screen", "Use the whole screen, or go back"),
    "view.next-pane": Words("Next &pane", "Move the focus to the next pane", "F6"),
    "view.previous-pane": Words("Previous p&ane", "Move the focus to the pane before", "Shift+F6"),
    # Chat
    "chat.stop": Words(
        "&Stop answer",
        "Stop the answer in this tab, else the loading of a model",
        "Esc",
        "No answer is being written in this tab.",
    ),
    "chat.copy-answer": Words(
        "&Copy last answer", "Copy the last answer as Markdown", "Ctrl+Shift+C", "There is no answer yet."
    ),
    "chat.tokens": Words(
        "Token &probabilities",
        "Show what else the last answer could have said",
        "Ctrl+Alt+P",
        "There is no answer yet.",
    ),
    "message.previous-version": Words(
        "Previo&us version", "Show the version before", "Alt+Left", "There is no other version there."
    ),
    "message.next-version": Words(
        "Ne&xt version", "Show the version after", "Alt+Right", "There is no other version there."
    ),
    "message.add": Words(
        "Add without as&king",
        "The draft becomes a message",
        needs="Write something first, while no answer is being written.",
    ),
    "message.add-answer": Words(
        "Add as mode&l's answer",
        "The draft becomes an answer, as if the model had written it",
        needs="Write something first, while no answer is being written.",
    ),
    "chat.attach": Words("&Attach files…", "Put the text of files into the next message", "Ctrl+Shift+A"),
    "chat.fork": Words("&Fork chat", "Go on in a copy of this chat", "Ctrl+Shift+K"),
    "chat.settings": Words(
        "Chat s&ettings…", "How long this chat may get, and what becomes of it then", "Ctrl+Shift+L"
    ),
    "tab.next": Words("&Next tab", "Show the next tab", ("Ctrl+Tab", "Ctrl+PgDown")),
    "tab.previous": Words("&Previous tab", "Show the previous tab", ("Ctrl+Shift+Tab", "Ctrl+PgUp")),
    "tab.move-right": Words("Move tab &right", "Move this tab one place to the right", "Ctrl+Shift+PgDown"),
    "tab.move-left": Words("Move tab &left", "Move this tab one place to the left", "Ctrl+Shift+PgUp"),
    "tab.pin": Words("P&in tab", "Keep this tab at the left, or let it go again"),
    "tab.rename": Words("R&ename chat…", "Give this chat another title"),
    "tab.close-others": Words("Close &others", "Close all tabs but this one"),
    "tab.close-right": Words("Close to the ri&ght", "Close all tabs to the right of this one"),
    "tab.split": Words("&Split view", "Show two chats side by side, or one again", "Ctrl+Alt+\\"),
    "tab.other-side": Words(
        "Ot&her side", "Go to the other one of two chats side by side, or show two", "Ctrl+\\"
    ),
    "chat.delete": Words(
        "&Delete chat", "Delete this chat; it can be had back for a moment", "Ctrl+Shift+Backspace"
    ),
    # Model
    "model.open": Words("&Open model…", "Open a model from a GGUF file", "Ctrl+O"),
    "model.library": Words("&Models…", "The models on this machine, and where to get more", "Ctrl+Shift+M"),
    "model.load-settings": Words(
        "&How this model is loaded…",
        "Context, speed and memory of the model that is open",
        needs="No model was opened.",
    ),
    "model.reload": Words(
        "Re&load model", "Load the same file again, with empty memory", needs="No model was opened."
    ),
    "model.cancel-load": Words(
        "&Cancel loading",
        "Stop loading a model; the one that answers now stays",
        needs="No model is being loaded.",
    ),
    "model.sleep": Words(
        "Put to &sleep",
        "The model gives its memory back, and comes back with the next message",
        needs="No model is loaded, or it is answering.",
    ),
    "engine.stop-all": Words(
        "Stop &all answers", "Stop the answers of all chats", "Shift+Esc", "No answer is being written."
    ),
    "engine.settings": Words("&Engine settings…", "Threads, and what goes first"),
    "context.settings": Words(
        "Conte&xt settings…", "Tokens for all chats together, slots, and the longest chat"
    ),
    # Tools
    "api.switch": Words("&Local API", "Let other programs on this computer ask the model"),
    "api.copy-address": Words(
        "Copy API &address", "What other programs call the base URL", needs="The local API is off."
    ),
    "api.copy-key": Words(
        "Copy API &key",
        "What other programs must send",
        needs="The key is made when the local API is first switched on.",
    ),
    "api.open": Words("Local API s&ettings…", "Port, address and key"),
    "tools.backups": Words("&Backups…", "Copies of all chats, and how to go back to one"),
    "tools.self-test": Words(
        "&Self-test…", "Prove on this model and this computer that chats do not disturb each other"
    ),
    # Help
    "help.shortcuts": Words("&Keyboard shortcuts", "All keys on one page", (Key.HelpContents, "Ctrl+/")),
    "help.log": Words("L&og…", "Show what Skein has done since it was started"),
    "help.data-folder": Words("Open &data folder", "Show the folder with the chats in the file browser"),
    "help.log-folder": Words("Open &log folder", "Show the folder with the logs in the file browser"),
    "app.about": Words("&About Skein", "Version, diagnostics and licences"),
}
