-- Code intelligence: services with what they need, and names that people give to places in the code.

CREATE INDEX module_edge_target ON module_edge (checkout, target);

CREATE TABLE service (
  id TEXT PRIMARY KEY, project_id TEXT NOT NULL, checkout TEXT NOT NULL, path TEXT NOT NULL, kind TEXT NOT NULL,
  name TEXT NOT NULL, folder TEXT NOT NULL, command TEXT NOT NULL, needs TEXT NOT NULL
);
CREATE INDEX service_project ON service (project_id, name);
CREATE INDEX service_checkout ON service (checkout);

CREATE TABLE beacon (
  id TEXT PRIMARY KEY, project_id TEXT NOT NULL, name TEXT NOT NULL, called TEXT NOT NULL, status TEXT NOT NULL,
  origin TEXT NOT NULL, path TEXT NOT NULL, qualified TEXT NOT NULL, kind TEXT NOT NULL, ordinal BIGINT NOT NULL,
  hash TEXT NOT NULL, shape TEXT NOT NULL, signature TEXT NOT NULL, twins TEXT NOT NULL, moved TEXT NOT NULL,
  created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL, gone_at BIGINT
);
CREATE UNIQUE INDEX beacon_called ON beacon (project_id, called);

CREATE TABLE symbol_past (
  id TEXT PRIMARY KEY, project_id TEXT NOT NULL, checkout TEXT NOT NULL, path TEXT NOT NULL, qualified TEXT NOT NULL,
  kind TEXT NOT NULL, ordinal BIGINT NOT NULL, what TEXT NOT NULL, hash TEXT NOT NULL, signature TEXT NOT NULL,
  at BIGINT NOT NULL
);
CREATE INDEX symbol_past_place ON symbol_past (checkout, path, qualified, at);
CREATE INDEX symbol_past_at ON symbol_past (checkout, what, at);
