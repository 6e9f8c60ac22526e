-- What told that an item was used or called wrong, and each session's course as `effect` counts it.

CREATE TABLE attribution (
  session_id TEXT NOT NULL, item_id TEXT NOT NULL, signal TEXT NOT NULL, project_id TEXT NOT NULL,
  item_kind TEXT NOT NULL, native_session TEXT NOT NULL, agent TEXT NOT NULL, message_id TEXT NOT NULL,
  created_at BIGINT NOT NULL, PRIMARY KEY (session_id, item_id, signal)
);
CREATE INDEX attribution_item ON attribution (item_id, signal);
CREATE INDEX attribution_message ON attribution (message_id);
CREATE INDEX attribution_project ON attribution (project_id, created_at);

CREATE TABLE course (
  session_id TEXT PRIMARY KEY, project_id TEXT NOT NULL, agent TEXT NOT NULL, started_at BIGINT NOT NULL,
  tokens BIGINT NOT NULL, calls BIGINT NOT NULL, edit_tokens BIGINT, edit_calls BIGINT, injected BIGINT NOT NULL,
  injected_tokens BIGINT NOT NULL, shown BIGINT NOT NULL, used BIGINT NOT NULL, irrelevant BIGINT NOT NULL,
  repeated BIGINT NOT NULL, wrong BIGINT NOT NULL
);
CREATE INDEX course_project ON course (project_id, started_at);

CREATE TABLE discovery (
  session_id TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, project_id TEXT NOT NULL, told INTEGER NOT NULL,
  tokens BIGINT NOT NULL, calls BIGINT NOT NULL, again INTEGER NOT NULL, message_id TEXT NOT NULL,
  created_at BIGINT NOT NULL, PRIMARY KEY (session_id, kind, name)
);
CREATE INDEX discovery_found ON discovery (project_id, kind, name, created_at, session_id) WHERE told = 0;
CREATE INDEX discovery_first ON discovery (project_id, kind, name) WHERE told = 0 AND again = 0;
CREATE INDEX discovery_time ON discovery (project_id, created_at);
CREATE INDEX discovery_message ON discovery (message_id);
