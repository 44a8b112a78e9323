CREATE TABLE media (
    id        TEXT PRIMARY KEY,  -- SHA-256 of its data, in hexadecimal
    data      BLOB NOT NULL,     -- the file's bytes
    thumbnail BLOB NOT NULL,     -- 8-bit RGB, row by row; empty: none was made yet, or it is a sound
    width     INTEGER NOT NULL   -- of the thumbnail
) STRICT;

CREATE INDEX turns_with_media ON turns (chat_id) WHERE instr(attachments, '"sha256"') > 0;
