-- The spine: evidence, knowledge, code and machinery. Times are microseconds UTC; mappings are JSON text.

CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL);

CREATE TABLE project (
  id TEXT PRIMARY KEY, key TEXT NOT NULL UNIQUE, name TEXT NOT NULL, root TEXT NOT NULL,
  alias_of TEXT, created_at BIGINT NOT NULL
);
CREATE INDEX project_alias ON project (alias_of);

CREATE TABLE project_path (
  path TEXT PRIMARY KEY, project_id TEXT NOT NULL, reason TEXT NOT NULL, seen_at BIGINT NOT NULL
);
CREATE INDEX project_path_project ON project_path (project_id);

CREATE TABLE session (
  id TEXT PRIMARY KEY, project_id TEXT NOT NULL, agent TEXT NOT NULL, native_id TEXT NOT NULL, parent_id TEXT,
  title TEXT NOT NULL, cwd TEXT NOT NULL, branch TEXT NOT NULL, model TEXT NOT NULL, client_version TEXT NOT NULL,
  started_at BIGINT NOT NULL, last_at BIGINT NOT NULL, ended_at BIGINT, messages BIGINT NOT NULL, facts TEXT NOT NULL
);
CREATE INDEX session_project ON session (project_id, last_at);
CREATE INDEX session_native ON session (native_id);
CREATE INDEX session_parent ON session (parent_id);

CREATE TABLE message (
  id TEXT PRIMARY KEY, project_id TEXT NOT NULL, session_id TEXT NOT NULL, ordinal BIGINT NOT NULL,
  role TEXT NOT NULL, kind TEXT NOT NULL, text TEXT NOT NULL, tool TEXT NOT NULL, call_id TEXT NOT NULL,
  is_error INTEGER NOT NULL, meta TEXT NOT NULL, created_at BIGINT NOT NULL, sha256 TEXT NOT NULL
);
CREATE INDEX message_session ON message (session_id, ordinal);

CREATE TABLE document (
  id TEXT PRIMARY KEY, project_id TEXT NOT NULL, path TEXT NOT NULL, title TEXT NOT NULL, kind TEXT NOT NULL,
  text TEXT NOT NULL, created_at BIGINT NOT NULL, sha256 TEXT NOT NULL
);
CREATE INDEX document_project ON document (project_id, path);

CREATE TABLE citation (
  id TEXT PRIMARY KEY, project_id TEXT NOT NULL, claim_id TEXT NOT NULL, message_id TEXT, document_id TEXT,
  start BIGINT NOT NULL, stop BIGINT NOT NULL, quote TEXT NOT NULL, sha256 TEXT NOT NULL, created_at BIGINT NOT NULL
);
CREATE INDEX citation_claim ON citation (claim_id);
CREATE INDEX citation_message ON citation (message_id);
CREATE INDEX citation_document ON citation (document_id);

CREATE TABLE retraction (
  message_id TEXT PRIMARY KEY, project_id TEXT NOT NULL, reason TEXT NOT NULL, created_at BIGINT NOT NULL
);

CREATE TABLE transcript_file (
  path TEXT PRIMARY KEY, agent TEXT NOT NULL, session_id TEXT, project_id TEXT, device BIGINT NOT NULL,
  inode BIGINT NOT NULL, size BIGINT NOT NULL, "offset" BIGINT NOT NULL, head_hash TEXT NOT NULL,
  tail_hash TEXT NOT NULL, state TEXT NOT NULL, lines BIGINT NOT NULL, bad_lines BIGINT NOT NULL,
  messages BIGINT NOT NULL, unknown TEXT NOT NULL, carry TEXT NOT NULL, error TEXT NOT NULL, updated_at BIGINT NOT NULL
);
CREATE INDEX transcript_file_session ON transcript_file (session_id);

CREATE TABLE entry (
  id TEXT PRIMARY KEY, short TEXT NOT NULL, project_id TEXT NOT NULL, category TEXT NOT NULL, type TEXT NOT NULL,
  status TEXT NOT NULL, scope TEXT NOT NULL, subject TEXT NOT NULL, title TEXT NOT NULL, summary TEXT NOT NULL,
  body TEXT NOT NULL, questions TEXT NOT NULL, tags TEXT NOT NULL, score DOUBLE PRECISION NOT NULL,
  evidence BIGINT NOT NULL, key TEXT NOT NULL, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL,
  last_confirmed BIGINT
);
CREATE UNIQUE INDEX entry_key ON entry (project_id, key);
CREATE INDEX entry_short ON entry (short);
CREATE INDEX entry_status ON entry (project_id, status, updated_at);

CREATE TABLE entry_version (
  id TEXT PRIMARY KEY, project_id TEXT NOT NULL, entry_id TEXT NOT NULL, title TEXT NOT NULL, summary TEXT NOT NULL,
  body TEXT NOT NULL, created_at BIGINT NOT NULL
);
CREATE INDEX entry_version_entry ON entry_version (entry_id, created_at);

CREATE TABLE entry_link (
  project_id TEXT NOT NULL, entry_id TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL,
  PRIMARY KEY (entry_id, kind, name)
);
CREATE INDEX entry_link_name ON entry_link (project_id, kind, name);

CREATE TABLE edge (
  project_id TEXT NOT NULL, source_id TEXT NOT NULL, target_id TEXT NOT NULL, kind TEXT NOT NULL,
  reason TEXT NOT NULL, created_at BIGINT NOT NULL, PRIMARY KEY (source_id, target_id, kind)
);
CREATE INDEX edge_target ON edge (target_id);

CREATE TABLE claim (
  id TEXT PRIMARY KEY, project_id TEXT NOT NULL, entry_id TEXT NOT NULL, type TEXT NOT NULL, status TEXT NOT NULL,
  text TEXT NOT NULL, role TEXT NOT NULL, session_id TEXT, rank BIGINT NOT NULL, scope TEXT NOT NULL,
  subject TEXT NOT NULL, attribute TEXT NOT NULL, value TEXT NOT NULL, said_at BIGINT NOT NULL,
  recorded_at BIGINT NOT NULL, superseded_by TEXT
);
CREATE INDEX claim_entry ON claim (entry_id, said_at);
CREATE INDEX claim_session ON claim (session_id);

CREATE TABLE review (
  id TEXT PRIMARY KEY, project_id TEXT NOT NULL, kind TEXT NOT NULL, target_id TEXT NOT NULL,
  old_status TEXT NOT NULL, new_status TEXT NOT NULL, actor TEXT NOT NULL, reason TEXT NOT NULL,
  created_at BIGINT NOT NULL
);
CREATE INDEX review_target ON review (target_id, created_at);

CREATE TABLE source_file (
  id TEXT PRIMARY KEY, project_id TEXT NOT NULL, checkout TEXT NOT NULL, path TEXT NOT NULL, language TEXT NOT NULL,
  size BIGINT NOT NULL, mtime_ns BIGINT NOT NULL, sha256 TEXT NOT NULL, state TEXT NOT NULL, lines BIGINT NOT NULL,
  indexed_at BIGINT NOT NULL
);
CREATE INDEX source_file_checkout ON source_file (checkout, path);
CREATE INDEX source_file_project ON source_file (project_id, path);

CREATE TABLE symbol (
  id TEXT PRIMARY KEY, project_id TEXT NOT NULL, file_id TEXT NOT NULL, path TEXT NOT NULL, name TEXT NOT NULL,
  qualified TEXT NOT NULL, kind TEXT NOT NULL, ordinal BIGINT NOT NULL, signature TEXT NOT NULL, doc TEXT NOT NULL,
  start_line BIGINT NOT NULL, stop_line BIGINT NOT NULL, hash TEXT NOT NULL
);
CREATE INDEX symbol_file ON symbol (file_id);
CREATE INDEX symbol_name ON symbol (project_id, name);

CREATE TABLE module_edge (
  project_id TEXT NOT NULL, checkout TEXT NOT NULL, source TEXT NOT NULL, target TEXT NOT NULL,
  external INTEGER NOT NULL, line BIGINT NOT NULL, PRIMARY KEY (checkout, source, target)
);
CREATE INDEX module_edge_project ON module_edge (project_id);

CREATE TABLE job (
  id TEXT PRIMARY KEY, kind TEXT NOT NULL, key TEXT NOT NULL, project_id TEXT, payload TEXT NOT NULL,
  state TEXT NOT NULL, rerun INTEGER NOT NULL, attempts BIGINT NOT NULL, run_after BIGINT NOT NULL,
  lease_owner TEXT NOT NULL, lease_until BIGINT, error TEXT NOT NULL, created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX job_key ON job (kind, key);
CREATE INDEX job_due ON job (state, run_after, created_at, id);

CREATE TABLE briefing (
  id TEXT PRIMARY KEY, project_id TEXT NOT NULL, native_session TEXT NOT NULL, agent TEXT NOT NULL,
  event TEXT NOT NULL, tokens BIGINT NOT NULL, budget BIGINT NOT NULL, micros BIGINT NOT NULL, record TEXT NOT NULL,
  created_at BIGINT NOT NULL
);
CREATE INDEX briefing_session ON briefing (native_session, created_at);

CREATE TABLE injection (
  briefing_id TEXT NOT NULL, project_id TEXT NOT NULL, session_id TEXT, native_session TEXT NOT NULL,
  agent TEXT NOT NULL, event TEXT NOT NULL, source TEXT NOT NULL, item_kind TEXT NOT NULL, item_id TEXT NOT NULL,
  tokens BIGINT NOT NULL, used INTEGER, created_at BIGINT NOT NULL, PRIMARY KEY (briefing_id, item_kind, item_id)
);
CREATE INDEX injection_session ON injection (native_session);
CREATE INDEX injection_item ON injection (item_id);

CREATE TABLE retrospective (
  session_id TEXT PRIMARY KEY, project_id TEXT NOT NULL, task TEXT NOT NULL, outcome TEXT NOT NULL,
  turns BIGINT NOT NULL, tool_calls BIGINT NOT NULL, tool_errors BIGINT NOT NULL, facts TEXT NOT NULL,
  created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL
);
CREATE INDEX retrospective_project ON retrospective (project_id, updated_at);

CREATE TABLE observation (
  id TEXT PRIMARY KEY, project_id TEXT NOT NULL, native_session TEXT NOT NULL, identity TEXT NOT NULL,
  kind TEXT NOT NULL, subject TEXT NOT NULL, facts TEXT NOT NULL, created_at BIGINT NOT NULL
);
CREATE INDEX observation_session ON observation (native_session, created_at);

CREATE TABLE tombstone (
  kind TEXT NOT NULL, id TEXT NOT NULL, project_id TEXT NOT NULL, reason TEXT NOT NULL, created_at BIGINT NOT NULL,
  PRIMARY KEY (kind, id)
);

INSERT INTO project (id, key, name, root, alias_of, created_at)
VALUES ('global', 'global', 'everywhere', '', NULL, 0);
