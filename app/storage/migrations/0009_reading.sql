ALTER TABLE turns ADD COLUMN reading TEXT NOT NULL DEFAULT '';  -- what is thinking and what is answer, as JSON
