-- As Skein wrote it with schema version 1.
CREATE TABLE chats (
    id            TEXT PRIMARY KEY,
    title         TEXT NOT NULL,
    system_prompt TEXT NOT NULL,
    draft         TEXT NOT NULL,  -- what stands unsent in the composer
    created_at    REAL NOT NULL,  -- seconds since the epoch
    updated_at    REAL NOT NULL
) STRICT;
INSERT INTO "chats" VALUES('sums','Sums','Be short.','half a thou',1795000000.0,1795000100.0);
INSERT INTO "chats" VALUES('long','','','',1795000001.0,1795000100.0);
INSERT INTO "chats" VALUES('closed','Closed','','',1795000002.0,1795000100.0);
INSERT INTO "chats" VALUES('kept','','','',1795000003.0,1795000100.0);
CREATE TABLE closed_tabs (
    position  INTEGER PRIMARY KEY,  -- the tab closed last has the highest
    chat_id   TEXT NOT NULL UNIQUE REFERENCES chats (id) ON DELETE CASCADE,
    tab_index INTEGER NOT NULL
) STRICT;
INSERT INTO "closed_tabs" VALUES(0,'closed',1);
CREATE TABLE open_tabs (
    position   INTEGER PRIMARY KEY,
    chat_id    TEXT NOT NULL UNIQUE REFERENCES chats (id) ON DELETE CASCADE,
    is_current INTEGER NOT NULL
) STRICT;
INSERT INTO "open_tabs" VALUES(0,'sums',0);
INSERT INTO "open_tabs" VALUES(1,'long',1);
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
INSERT INTO "turns" VALUES('t1','sums',0,'user','What is 34 + 21?','done','','','{"num_prompt_tokens": 0, "num_reused_tokens": 0, "num_shared_tokens": 0, "num_restored_tokens": 0, "num_computed_tokens": 0, "prefix_end": "", "num_generated_tokens": 0, "queue_s": 0.0, "prompt_s": 0.0, "time_to_first_token_s": 0.0, "decode_s": 0.0}',1795000001.0);
INSERT INTO "turns" VALUES('t2','sums',1,'assistant','34 + 21 = 55

```py
# "quoted"; it''s
print(55)
```','done','','starter','{"num_prompt_tokens": 3, "num_reused_tokens": 0, "num_shared_tokens": 0, "num_restored_tokens": 0, "num_computed_tokens": 0, "prefix_end": "", "num_generated_tokens": 9, "queue_s": 0.0, "prompt_s": 0.0, "time_to_first_token_s": 0.0, "decode_s": 0.0}',1795000002.0);
INSERT INTO "turns" VALUES('t3','sums',2,'user','and 数学 🧮?','done','','','{"num_prompt_tokens": 0, "num_reused_tokens": 0, "num_shared_tokens": 0, "num_restored_tokens": 0, "num_computed_tokens": 0, "prefix_end": "", "num_generated_tokens": 0, "queue_s": 0.0, "prompt_s": 0.0, "time_to_first_token_s": 0.0, "decode_s": 0.0}',1795000003.0);
INSERT INTO "turns" VALUES('t4','sums',3,'assistant','half an ans','streaming','','starter','{"num_prompt_tokens": 0, "num_reused_tokens": 0, "num_shared_tokens": 0, "num_restored_tokens": 0, "num_computed_tokens": 0, "prefix_end": "", "num_generated_tokens": 0, "queue_s": 0.0, "prompt_s": 0.0, "time_to_first_token_s": 0.0, "decode_s": 0.0}',1795000004.0);
INSERT INTO "turns" VALUES('t5','long',0,'user','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','done','','','{"num_prompt_tokens": 0, "num_reused_tokens": 0, "num_shared_tokens": 0, "num_restored_tokens": 0, "num_computed_tokens": 0, "prefix_end": "", "num_generated_tokens": 0, "queue_s": 0.0, "prompt_s": 0.0, "time_to_first_token_s": 0.0, "decode_s": 0.0}',1795000005.0);
INSERT INTO "turns" VALUES('t6','long',1,'assistant','','failed','Too long.','','{"num_prompt_tokens": 0, "num_reused_tokens": 0, "num_shared_tokens": 0, "num_restored_tokens": 0, "num_computed_tokens": 0, "prefix_end": "", "num_generated_tokens": 0, "queue_s": 0.0, "prompt_s": 0.0, "time_to_first_token_s": 0.0, "decode_s": 0.0}',1795000006.0);
INSERT INTO "turns" VALUES('t7','closed',0,'user','bye','done','','','{"num_prompt_tokens": 0, "num_reused_tokens": 0, "num_shared_tokens": 0, "num_restored_tokens": 0, "num_computed_tokens": 0, "prefix_end": "", "num_generated_tokens": 0, "queue_s": 0.0, "prompt_s": 0.0, "time_to_first_token_s": 0.0, "decode_s": 0.0}',1795000007.0);
INSERT INTO "turns" VALUES('t8','closed',1,'assistant','good','stopped','','','{"num_prompt_tokens": 0, "num_reused_tokens": 0, "num_shared_tokens": 0, "num_restored_tokens": 0, "num_computed_tokens": 0, "prefix_end": "", "num_generated_tokens": 0, "queue_s": 0.0, "prompt_s": 0.0, "time_to_first_token_s": 0.0, "decode_s": 0.0}',1795000008.0);
INSERT INTO "turns" VALUES('t9','kept',0,'user','in no tab','done','','','{"num_prompt_tokens": 0, "num_reused_tokens": 0, "num_shared_tokens": 0, "num_restored_tokens": 0, "num_computed_tokens": 0, "prefix_end": "", "num_generated_tokens": 0, "queue_s": 0.0, "prompt_s": 0.0, "time_to_first_token_s": 0.0, "decode_s": 0.0}',1795000009.0);
PRAGMA user_version = 1;
