ALTER TABLE turns ADD COLUMN summary TEXT NOT NULL DEFAULT '';  -- what stands for this turn and those before it, as JSON
