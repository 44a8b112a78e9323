CREATE TABLE drafts (
    owner TEXT NOT NULL,  -- the id of a chat, or '': of none
    field TEXT NOT NULL,  -- the id of a message that is edited, or the name of a text field
    text  TEXT NOT NULL,
    PRIMARY KEY (owner, field)
) STRICT;
