-- Threads: what each stretch of a session is about, and which stretches of which sessions are about the same.

CREATE TABLE thread (
  id TEXT PRIMARY KEY, project_id TEXT NOT NULL, model TEXT NOT NULL, segments INTEGER NOT NULL, vector TEXT NOT NULL,
  words TEXT NOT NULL, first_at BIGINT NOT NULL, last_at BIGINT NOT NULL, redirect_to TEXT, created_at BIGINT NOT NULL
);
CREATE INDEX thread_latest ON thread (project_id, last_at);
CREATE INDEX thread_redirect ON thread (redirect_to) WHERE redirect_to IS NOT NULL;

CREATE TABLE thread_segment (
  id TEXT PRIMARY KEY, thread_id TEXT NOT NULL, project_id TEXT NOT NULL, session_id TEXT NOT NULL,
  ordinal INTEGER NOT NULL, start BIGINT NOT NULL, stop BIGINT NOT NULL, model TEXT NOT NULL, about TEXT NOT NULL, vector TEXT NOT NULL,
  words TEXT NOT NULL, sha256 TEXT NOT NULL, first_at BIGINT NOT NULL, last_at BIGINT NOT NULL, waiting INTEGER NOT NULL
);
CREATE INDEX thread_segment_waiting ON thread_segment (project_id) WHERE waiting = 1;
CREATE INDEX thread_segment_thread ON thread_segment (thread_id, first_at);
CREATE INDEX thread_segment_session ON thread_segment (session_id, ordinal);

CREATE TABLE threaded (
  session_id TEXT PRIMARY KEY, project_id TEXT NOT NULL, model TEXT NOT NULL, last_at BIGINT NOT NULL
);
CREATE INDEX threaded_project ON threaded (project_id);
