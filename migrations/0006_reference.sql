-- What uses what: the names that each file uses, and how many files use each definition.

CREATE TABLE file_names (
  file_id TEXT PRIMARY KEY, project_id TEXT NOT NULL, checkout TEXT NOT NULL, names TEXT NOT NULL
);
CREATE INDEX file_names_checkout ON file_names (checkout);

CREATE TABLE symbol_use (
  checkout TEXT NOT NULL, path TEXT NOT NULL, name TEXT NOT NULL, project_id TEXT NOT NULL, files BIGINT NOT NULL,
  share DOUBLE PRECISION NOT NULL, PRIMARY KEY (checkout, path, name)
);
