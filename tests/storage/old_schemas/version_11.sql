-- As Skein wrote it with schema version 6.
CREATE TABLE chats (
    id            TEXT PRIMARY KEY,
    title         TEXT NOT NULL,
    system_prompt TEXT NOT NULL,
    draft         TEXT NOT NULL,  -- what stands unsent in the composer
    created_at    REAL NOT NULL,  -- seconds since the epoch
    updated_at    REAL NOT NULL
, overflow TEXT NOT NULL DEFAULT 'stop', max_context_tokens INTEGER NOT NULL DEFAULT 0, auto_title TEXT NOT NULL DEFAULT '', leaf_id TEXT NOT NULL DEFAULT '', folder TEXT NOT NULL DEFAULT '', is_pinned INTEGER NOT NULL DEFAULT 0, sampling TEXT NOT NULL DEFAULT '{}', max_tokens INTEGER, queue TEXT NOT NULL DEFAULT '[]', draft_attachments TEXT NOT NULL DEFAULT '[]', deleted_at REAL, model_path TEXT NOT NULL DEFAULT '', is_notebook INTEGER NOT NULL DEFAULT 0, tools TEXT NOT NULL DEFAULT '[]') STRICT;
INSERT INTO "chats" VALUES('sums','Sums','Be short.','half a thou',1795000000.0,1795000100.0,'stop',0,'What is 34 + 21?','t4','',0,'{}',NULL,'[]','[]',NULL,'/m/starter.gguf',0,'[]');
INSERT INTO "chats" VALUES('long','','','',1795000001.0,1795000100.0,'rolling_window',2048,'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','t6','',0,'{}',NULL,'[]','[]',NULL,'',0,'[]');
INSERT INTO "chats" VALUES('closed','Closed','','',1795000002.0,1795000100.0,'stop',0,'bye','t8','',0,'{}',NULL,'[]','[]',NULL,'',0,'[]');
INSERT INTO "chats" VALUES('kept','','','',1795000003.0,1795000100.0,'stop',0,'in no tab','t9','',0,'{}',NULL,'[]','[]',NULL,'',0,'[]');
CREATE TABLE closed_tabs (
    position  INTEGER PRIMARY KEY,  -- the tab closed last has the highest
    chat_id   TEXT NOT NULL UNIQUE REFERENCES chats (id) ON DELETE CASCADE,
    tab_index INTEGER NOT NULL
) STRICT;
INSERT INTO "closed_tabs" VALUES(0,'closed',1);
CREATE TABLE folders (
    name     TEXT PRIMARY KEY,
    position INTEGER NOT NULL
) STRICT;
CREATE TABLE open_tabs (
    position   INTEGER PRIMARY KEY,
    chat_id    TEXT NOT NULL UNIQUE REFERENCES chats (id) ON DELETE CASCADE,
    is_current INTEGER NOT NULL
, is_pinned INTEGER NOT NULL DEFAULT 0, shown_at INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO "open_tabs" VALUES(0,'sums',0,0,0);
INSERT INTO "open_tabs" VALUES(1,'long',1,0,0);
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
, rounds TEXT NOT NULL DEFAULT '[]') STRICT;
INSERT INTO "turns" VALUES(1,'t7','closed','','user','bye','done','','','{"num_prompt_tokens": 0, "num_reused_tokens": 0, "num_shared_tokens": 0, "num_restored_tokens": 0, "num_computed_tokens": 0, "prefix_end": "", "num_generated_tokens": 0, "queue_s": 0.0, "prompt_s": 0.0, "time_to_first_token_s": 0.0, "decode_s": 0.0}',0,'[]',0.0,NULL,1795000007.0,'[]');
INSERT INTO "turns" VALUES(2,'t8','closed','t7','assistant','good','stopped','','','{"num_prompt_tokens": 0, "num_reused_tokens": 0, "num_shared_tokens": 0, "num_restored_tokens": 0, "num_computed_tokens": 0, "prefix_end": "", "num_generated_tokens": 0, "queue_s": 0.0, "prompt_s": 0.0, "time_to_first_token_s": 0.0, "decode_s": 0.0}',0,'[]',0.0,NULL,1795000008.0,'[]');
INSERT INTO "turns" VALUES(3,'t9','kept','','user','in no tab','done','','','{"num_prompt_tokens": 0, "num_reused_tokens": 0, "num_shared_tokens": 0, "num_restored_tokens": 0, "num_computed_tokens": 0, "prefix_end": "", "num_generated_tokens": 0, "queue_s": 0.0, "prompt_s": 0.0, "time_to_first_token_s": 0.0, "decode_s": 0.0}',0,'[]',0.0,NULL,1795000009.0,'[]');
INSERT INTO "turns" VALUES(4,'t5','long','','user','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','done','','','{"num_prompt_tokens": 0, "num_reused_tokens": 0, "num_shared_tokens": 0, "num_restored_tokens": 0, "num_computed_tokens": 0, "prefix_end": "", "num_generated_tokens": 0, "queue_s": 0.0, "prompt_s": 0.0, "time_to_first_token_s": 0.0, "decode_s": 0.0}',0,'[]',0.0,NULL,1795000005.0,'[]');
INSERT INTO "turns" VALUES(5,'t6','long','t5','assistant','','failed','Too long.','','{"num_prompt_tokens": 0, "num_reused_tokens": 0, "num_shared_tokens": 0, "num_restored_tokens": 0, "num_computed_tokens": 0, "prefix_end": "", "num_generated_tokens": 0, "queue_s": 0.0, "prompt_s": 0.0, "time_to_first_token_s": 0.0, "decode_s": 0.0}',1,'[]',0.0,NULL,1795000006.0,'[]');
INSERT INTO "turns" VALUES(6,'t1','sums','','user','What is 34 + 21?','done','','','{"num_prompt_tokens": 0, "num_reused_tokens": 0, "num_shared_tokens": 0, "num_restored_tokens": 0, "num_computed_tokens": 0, "prefix_end": "", "num_generated_tokens": 0, "queue_s": 0.0, "prompt_s": 0.0, "time_to_first_token_s": 0.0, "decode_s": 0.0}',0,'[]',0.0,NULL,1795000001.0,'[]');
INSERT INTO "turns" VALUES(7,'t2','sums','t1','assistant','34 + 21 = 55

```py
# "quoted"; it''s
print(55)
```','done','','starter','{"num_prompt_tokens": 3, "num_reused_tokens": 0, "num_shared_tokens": 0, "num_restored_tokens": 0, "num_computed_tokens": 0, "prefix_end": "", "num_generated_tokens": 9, "queue_s": 0.0, "prompt_s": 0.0, "time_to_first_token_s": 0.0, "decode_s": 0.0}',0,'[]',0.0,NULL,1795000002.0,'[]');
INSERT INTO "turns" VALUES(8,'t3','sums','t2','user','and 数学 🧮?','done','','','{"num_prompt_tokens": 0, "num_reused_tokens": 0, "num_shared_tokens": 0, "num_restored_tokens": 0, "num_computed_tokens": 0, "prefix_end": "", "num_generated_tokens": 0, "queue_s": 0.0, "prompt_s": 0.0, "time_to_first_token_s": 0.0, "decode_s": 0.0}',0,'[]',0.0,NULL,1795000003.0,'[]');
INSERT INTO "turns" VALUES(9,'t4','sums','t3','assistant','half an ans','streaming','','starter','{"num_prompt_tokens": 0, "num_reused_tokens": 0, "num_shared_tokens": 0, "num_restored_tokens": 0, "num_computed_tokens": 0, "prefix_end": "", "num_generated_tokens": 0, "queue_s": 0.0, "prompt_s": 0.0, "time_to_first_token_s": 0.0, "decode_s": 0.0}',0,'[]',0.0,NULL,1795000004.0,'[]');
CREATE INDEX turns_of_chat ON turns (chat_id, number);
CREATE VIRTUAL TABLE turns_found USING fts5 (text, tokenize = 'trigram');
INSERT INTO turns_found (rowid, text) SELECT number, text FROM turns WHERE state <> 'streaming';
CREATE TABLE media (
    id        TEXT PRIMARY KEY,  -- SHA-256 of its data, in hexadecimal
    data      BLOB NOT NULL,     -- the file's bytes
    thumbnail BLOB NOT NULL,     -- 8-bit RGB, row by row; empty: none was made yet, or it is a sound
    width     INTEGER NOT NULL   -- of the thumbnail
) STRICT;

CREATE INDEX turns_with_media ON turns (chat_id) WHERE instr(attachments, '"sha256"') > 0;
ALTER TABLE chats ADD COLUMN shelf_id TEXT NOT NULL DEFAULT '';  -- the shelf whose files its model reads
ALTER TABLE turns ADD COLUMN reading TEXT NOT NULL DEFAULT '';  -- what is thinking and what is answer, as JSON
CREATE TABLE drafts (
    owner TEXT NOT NULL,  -- the id of a chat, or '': of none
    field TEXT NOT NULL,  -- the id of a message that is edited, or the name of a text field
    text  TEXT NOT NULL,
    PRIMARY KEY (owner, field)
) STRICT;
ALTER TABLE turns ADD COLUMN summary TEXT NOT NULL DEFAULT '';  -- what stands for this turn and those before it, as JSON
PRAGMA user_version = 11;
