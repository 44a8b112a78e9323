ALTER TABLE chats ADD COLUMN auto_title TEXT NOT NULL DEFAULT '';  -- made from the first message
ALTER TABLE chats ADD COLUMN leaf_id TEXT NOT NULL DEFAULT '';  -- the last turn that is shown
ALTER TABLE chats ADD COLUMN folder TEXT NOT NULL DEFAULT '';
ALTER TABLE chats ADD COLUMN is_pinned INTEGER NOT NULL DEFAULT 0;
ALTER TABLE chats ADD COLUMN sampling TEXT NOT NULL DEFAULT '{}';  -- JSON: what the chat has of its own
ALTER TABLE chats ADD COLUMN max_tokens INTEGER;  -- NULL: as the settings say
ALTER TABLE chats ADD COLUMN queue TEXT NOT NULL DEFAULT '[]';  -- JSON: messages to be sent
ALTER TABLE chats ADD COLUMN draft_attachments TEXT NOT NULL DEFAULT '[]';  -- JSON
ALTER TABLE chats ADD COLUMN deleted_at REAL;  -- goes for good at the next start

UPDATE chats SET
    auto_title = coalesce((SELECT substr(trim(replace(text, char(10), ' ')), 1, 48) FROM turns
        WHERE chat_id = chats.id AND role = 'user' ORDER BY position LIMIT 1), ''),
    leaf_id = coalesce((SELECT id FROM turns WHERE chat_id = chats.id ORDER BY position DESC LIMIT 1), '');

CREATE TABLE folders (
    name     TEXT PRIMARY KEY,
    position INTEGER NOT NULL
) STRICT;

-- Turns form a tree, so an order by position makes way for what each follows.
ALTER TABLE turns RENAME TO turns_in_order;
CREATE TABLE turns (
    number      INTEGER PRIMARY KEY,  -- in the order they were first written
    id          TEXT NOT NULL UNIQUE,
    chat_id     TEXT NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    parent_id   TEXT NOT NULL,  -- '': the first of its chat
    role        TEXT NOT NULL CHECK (role IN ('system', 'user', 'assistant', 'tool')),
    text        TEXT NOT NULL,
    state       TEXT NOT NULL CHECK (state IN ('done', 'streaming', 'stopped', 'failed')),
    notice      TEXT NOT NULL,
    model       TEXT NOT NULL,
    usage       TEXT NOT NULL,  -- JSON
    overflowed  INTEGER NOT NULL,
    attachments TEXT NOT NULL,  -- JSON
    thinking_s  REAL NOT NULL,
    checksum    INTEGER,  -- CRC-32 of what was said; NULL: written before there were any
    created_at  REAL NOT NULL
) STRICT;
INSERT INTO turns (id, chat_id, parent_id, role, text, state, notice, model, usage, overflowed, attachments,
        thinking_s, created_at)
    SELECT id, chat_id, coalesce(lag(id) OVER (PARTITION BY chat_id ORDER BY position), ''), role, text, state,
        notice, model, usage, overflowed, '[]', 0, created_at
    FROM turns_in_order ORDER BY chat_id, position;
DROP TABLE turns_in_order;
CREATE INDEX turns_of_chat ON turns (chat_id, number);

ALTER TABLE open_tabs ADD COLUMN is_pinned INTEGER NOT NULL DEFAULT 0;
ALTER TABLE open_tabs ADD COLUMN shown_at INTEGER NOT NULL DEFAULT 0;  -- 1: on the left, 2: on the right, 0: not shown

-- Trigrams find parts of words in any script. What is still being written is found when it is done. It is kept by
-- hand: triggers may not write to it while the schema is not trusted.
CREATE VIRTUAL TABLE turns_found USING fts5 (text, tokenize = 'trigram');
INSERT INTO turns_found (rowid, text) SELECT number, text FROM turns WHERE state <> 'streaming';
