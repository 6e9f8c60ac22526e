-- Behaviour: observations with where they come from, the beliefs that come of them, and which session said what.

ALTER TABLE observation ADD COLUMN message_id TEXT;
ALTER TABLE observation ADD COLUMN consolidated_at BIGINT;
CREATE INDEX observation_waiting ON observation (identity, native_session, created_at) WHERE consolidated_at IS NULL;
CREATE INDEX observation_done ON observation (identity, consolidated_at) WHERE consolidated_at IS NOT NULL;
CREATE INDEX observation_message ON observation (message_id) WHERE message_id IS NOT NULL;

CREATE TABLE identity (
  id TEXT PRIMARY KEY, kind TEXT NOT NULL, created_at BIGINT NOT NULL, consolidated_at BIGINT, result TEXT NOT NULL
);

CREATE TABLE observed (
  session_id TEXT PRIMARY KEY, project_id TEXT NOT NULL, ordinal BIGINT NOT NULL, message_id TEXT NOT NULL,
  updated_at BIGINT NOT NULL
);

CREATE TABLE belief (
  id TEXT PRIMARY KEY, identity TEXT NOT NULL, project_id TEXT NOT NULL, category TEXT NOT NULL, name TEXT NOT NULL,
  confidence DOUBLE PRECISION NOT NULL, ease DOUBLE PRECISION NOT NULL, reinforced BIGINT NOT NULL,
  pinned INTEGER NOT NULL, weight DOUBLE PRECISION NOT NULL, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL,
  last_seen BIGINT NOT NULL
);
CREATE INDEX belief_ranked ON belief (identity, project_id, category, pinned, weight, id);
CREATE INDEX belief_updated ON belief (identity, pinned, updated_at);

CREATE TABLE reinforcement (
  belief_id TEXT NOT NULL, native_session TEXT NOT NULL, project_id TEXT NOT NULL, identity TEXT NOT NULL,
  at BIGINT NOT NULL, PRIMARY KEY (belief_id, native_session)
);
CREATE INDEX reinforcement_session ON reinforcement (native_session);
