-- Every agent: which reader reads a file, transcripts that came over the socket, what agents say of what they were told.

ALTER TABLE transcript_file ADD COLUMN reader TEXT NOT NULL DEFAULT '';
UPDATE transcript_file SET reader = agent;

CREATE TABLE upload (
  id TEXT PRIMARY KEY, project_id TEXT NOT NULL, forced INTEGER NOT NULL, reader TEXT NOT NULL, name TEXT NOT NULL,
  cwd TEXT NOT NULL, sha256 TEXT NOT NULL, bytes BIGINT NOT NULL, created_at BIGINT NOT NULL
);
CREATE INDEX upload_created ON upload (created_at);

CREATE TABLE upload_request (
  request_key TEXT PRIMARY KEY, upload_id TEXT NOT NULL, project_id TEXT NOT NULL, content TEXT NOT NULL,
  created_at BIGINT NOT NULL
);

CREATE TABLE upload_part (
  upload_id TEXT NOT NULL, ordinal BIGINT NOT NULL, project_id TEXT NOT NULL, size BIGINT NOT NULL,
  created_at BIGINT NOT NULL, text TEXT NOT NULL, PRIMARY KEY (upload_id, ordinal)
);

CREATE TABLE upload_session (
  upload_id TEXT NOT NULL, session_id TEXT NOT NULL, project_id TEXT NOT NULL, PRIMARY KEY (upload_id, session_id)
);
CREATE INDEX upload_of_session ON upload_session (session_id);

CREATE TABLE feedback (
  id TEXT PRIMARY KEY, project_id TEXT NOT NULL, kind TEXT NOT NULL, target_id TEXT NOT NULL, verdict TEXT NOT NULL,
  note TEXT NOT NULL, agent TEXT NOT NULL, native_session TEXT NOT NULL, created_at BIGINT NOT NULL
);
CREATE INDEX feedback_target ON feedback (target_id, created_at);
