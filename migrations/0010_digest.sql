-- Summaries of sessions, threads and projects at two lengths, made of what lies in the store and made anew when it changes.

CREATE TABLE digest (
  owner_kind TEXT NOT NULL, owner_id TEXT NOT NULL, length TEXT NOT NULL, project_id TEXT NOT NULL, text TEXT NOT NULL,
  sources TEXT NOT NULL, mark TEXT NOT NULL, model TEXT NOT NULL, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL,
  PRIMARY KEY (owner_kind, owner_id, length)
);
CREATE INDEX digest_project ON digest (project_id, owner_kind);
