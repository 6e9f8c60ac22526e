-- What language models have read: one row for each part of a session or a document, with the words and the models that
-- read it, and how far it came. `value` holds what is not written yet; "{}" once it is.

CREATE TABLE model_read (
  source_kind TEXT NOT NULL, source_id TEXT NOT NULL, part TEXT NOT NULL, project_id TEXT NOT NULL, stop TEXT NOT NULL,
  stage TEXT NOT NULL, version TEXT NOT NULL, router TEXT NOT NULL, editor TEXT NOT NULL, value TEXT NOT NULL,
  kept TEXT NOT NULL, dropped TEXT NOT NULL, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL,
  PRIMARY KEY (source_kind, source_id, part)
);
CREATE INDEX model_read_project ON model_read (project_id, source_kind, stage);
