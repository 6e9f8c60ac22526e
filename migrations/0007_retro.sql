-- What a retrospective says, point by point with what it rests on, and by which rules it was made.

ALTER TABLE retrospective ADD COLUMN version BIGINT NOT NULL DEFAULT 0;

CREATE TABLE retro_point (
  id TEXT PRIMARY KEY, project_id TEXT NOT NULL, session_id TEXT NOT NULL, ordinal BIGINT NOT NULL,
  section TEXT NOT NULL, kind TEXT NOT NULL, subject TEXT NOT NULL, text TEXT NOT NULL, times BIGINT NOT NULL,
  cost BIGINT NOT NULL, entry_id TEXT, told TEXT NOT NULL, cites TEXT NOT NULL
);
CREATE INDEX retro_point_session ON retro_point (session_id, ordinal);
CREATE INDEX retro_point_entry ON retro_point (entry_id) WHERE entry_id IS NOT NULL;
