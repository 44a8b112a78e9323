CREATE TABLE chats (
    id            TEXT PRIMARY KEY,
    title         TEXT NOT NULL,
    system_prompt TEXT NOT NULL,
    draft         TEXT NOT NULL,  -- what stands unsent in the composer
    created_at    REAL NOT NULL,  -- seconds since the epoch
    updated_at    REAL NOT NULL
) STRICT;

CREATE TABLE turns (
    id         TEXT PRIMARY KEY,
    chat_id    TEXT NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    position   INTEGER NOT NULL,  -- order never comes from a clock
    role       TEXT NOT NULL CHECK (role IN ('system', 'user', 'assistant')),
    text       TEXT NOT NULL,
    state      TEXT NOT NULL CHECK (state IN ('done', 'streaming', 'stopped', 'failed')),
    notice     TEXT NOT NULL,
    model      TEXT NOT NULL,
    usage      TEXT NOT NULL,  -- JSON
    created_at REAL NOT NULL,
    UNIQUE (chat_id, position)
) STRICT;

CREATE TABLE open_tabs (
    position   INTEGER PRIMARY KEY,
    chat_id    TEXT NOT NULL UNIQUE REFERENCES chats (id) ON DELETE CASCADE,
    is_current INTEGER NOT NULL
) STRICT;

CREATE TABLE closed_tabs (
    position  INTEGER PRIMARY KEY,  -- the tab closed last has the highest
    chat_id   TEXT NOT NULL UNIQUE REFERENCES chats (id) ON DELETE CASCADE,
    tab_index INTEGER NOT NULL
) STRICT;
