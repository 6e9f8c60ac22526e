-- Living pages: versions with reasons, documents with a rank and a date, anchors, lint, questions, the glossary, the tree.

ALTER TABLE entry ADD COLUMN slug TEXT NOT NULL DEFAULT '';
ALTER TABLE entry ADD COLUMN version BIGINT NOT NULL DEFAULT 1;
ALTER TABLE entry ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
ALTER TABLE entry ADD COLUMN review_by BIGINT;
ALTER TABLE entry ADD COLUMN deferred_until BIGINT;
ALTER TABLE entry ADD COLUMN redirect_to TEXT;
ALTER TABLE entry ADD COLUMN worded TEXT NOT NULL DEFAULT '';
ALTER TABLE entry ADD COLUMN stale_reason TEXT NOT NULL DEFAULT '';
CREATE INDEX entry_pinned ON entry (project_id, updated_at) WHERE pinned = 1;
CREATE INDEX entry_slug ON entry (project_id, category, slug, status, redirect_to);
CREATE INDEX entry_open ON entry (project_id, status, type, evidence, updated_at, id, deferred_until, redirect_to)
WHERE redirect_to IS NULL;
CREATE INDEX entry_looked ON entry (
  project_id, category, (COALESCE(last_confirmed, updated_at)), id, type, status, deferred_until, redirect_to
) WHERE status = 'confirmed' AND redirect_to IS NULL;
CREATE INDEX entry_confirmed ON entry (project_id, last_confirmed) WHERE last_confirmed IS NOT NULL;
CREATE INDEX entry_review_by ON entry (project_id, review_by) WHERE review_by IS NOT NULL;
CREATE INDEX entry_deferred ON entry (project_id, deferred_until) WHERE deferred_until IS NOT NULL;

ALTER TABLE entry_version ADD COLUMN version BIGINT NOT NULL DEFAULT 0;
ALTER TABLE entry_version ADD COLUMN reason TEXT NOT NULL DEFAULT '';
ALTER TABLE entry_version ADD COLUMN actor TEXT NOT NULL DEFAULT '';

ALTER TABLE claim ADD COLUMN valid_until BIGINT;
CREATE INDEX claim_about ON claim (project_id, subject, attribute);
CREATE INDEX claim_recorded ON claim (project_id, recorded_at);

CREATE INDEX edge_contradicts ON edge (project_id, source_id, target_id) WHERE kind = 'contradicts';
CREATE INDEX feedback_project ON feedback (project_id, verdict, created_at);
CREATE INDEX review_project ON review (project_id, created_at);
CREATE INDEX review_confirmed ON review (project_id, created_at)
WHERE new_status = 'confirmed' AND old_status <> 'confirmed';

ALTER TABLE document ADD COLUMN rank BIGINT NOT NULL DEFAULT 0;
ALTER TABLE document ADD COLUMN said_at BIGINT NOT NULL DEFAULT 0;

ALTER TABLE project ADD COLUMN private INTEGER NOT NULL DEFAULT 0;

CREATE TABLE met (
  project_id TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, met_at BIGINT NOT NULL,
  PRIMARY KEY (project_id, kind, name)
);

CREATE TABLE borrowed (
  claim_id TEXT PRIMARY KEY, project_id TEXT NOT NULL, entry_id TEXT NOT NULL, origin_project TEXT NOT NULL,
  origin_claim TEXT NOT NULL, kind TEXT NOT NULL, created_at BIGINT NOT NULL
);
CREATE INDEX borrowed_project ON borrowed (project_id);
CREATE INDEX borrowed_origin ON borrowed (origin_project);
CREATE INDEX borrowed_claim ON borrowed (origin_claim);

CREATE TABLE document_head (
  project_id TEXT NOT NULL, path TEXT NOT NULL, document_id TEXT NOT NULL, seen_at BIGINT NOT NULL, gone_at BIGINT,
  PRIMARY KEY (project_id, path)
);

CREATE TABLE anchor (
  project_id TEXT NOT NULL, entry_id TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, leaf TEXT NOT NULL,
  target TEXT NOT NULL, path TEXT NOT NULL, checkout TEXT NOT NULL, hash TEXT NOT NULL, signature TEXT NOT NULL,
  text TEXT NOT NULL, note TEXT NOT NULL, due INTEGER NOT NULL, created_at BIGINT NOT NULL, based_at BIGINT NOT NULL,
  PRIMARY KEY (entry_id, kind, name)
);
CREATE INDEX anchor_target ON anchor (project_id, kind, target);
CREATE INDEX anchor_path ON anchor (project_id, path);
CREATE INDEX anchor_leaf ON anchor (project_id, leaf);
CREATE INDEX anchor_due ON anchor (project_id, entry_id) WHERE due = 1;

CREATE TABLE lint_finding (
  id TEXT PRIMARY KEY, project_id TEXT NOT NULL, check_name TEXT NOT NULL, severity TEXT NOT NULL,
  target_kind TEXT NOT NULL, target_id TEXT NOT NULL, place TEXT NOT NULL, message TEXT NOT NULL,
  remedy TEXT NOT NULL, found_at BIGINT NOT NULL
);
CREATE INDEX lint_finding_project ON lint_finding (project_id, check_name);

CREATE TABLE question (
  id TEXT PRIMARY KEY, project_id TEXT NOT NULL, text TEXT NOT NULL, scope TEXT NOT NULL, expected TEXT NOT NULL,
  answer TEXT NOT NULL, was TEXT NOT NULL, cause TEXT NOT NULL, holds INTEGER, entry_id TEXT NOT NULL,
  empty BIGINT NOT NULL, kept INTEGER NOT NULL, created_at BIGINT NOT NULL, ran_at BIGINT, changed_at BIGINT
);
CREATE INDEX question_project ON question (project_id, text);

CREATE TABLE term (
  id TEXT PRIMARY KEY, project_id TEXT NOT NULL, name TEXT NOT NULL, meaning TEXT NOT NULL, synonyms TEXT NOT NULL,
  targets TEXT NOT NULL, relations TEXT NOT NULL, related TEXT NOT NULL, gotchas TEXT NOT NULL, status TEXT NOT NULL,
  version BIGINT NOT NULL, pending TEXT NOT NULL, message_id TEXT, document_id TEXT, start BIGINT NOT NULL,
  stop BIGINT NOT NULL, quote TEXT NOT NULL, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX term_name ON term (project_id, name);
CREATE INDEX term_updated ON term (project_id, updated_at, version);

CREATE TABLE term_version (
  id TEXT PRIMARY KEY, project_id TEXT NOT NULL, term_id TEXT NOT NULL, version BIGINT NOT NULL, record TEXT NOT NULL,
  status TEXT NOT NULL, actor TEXT NOT NULL, reason TEXT NOT NULL, created_at BIGINT NOT NULL
);
CREATE INDEX term_version_term ON term_version (term_id, version);

CREATE TABLE tree_file (
  project_id TEXT NOT NULL, path TEXT NOT NULL, entry_id TEXT NOT NULL, sha256 TEXT NOT NULL, face TEXT NOT NULL,
  rendered_at BIGINT NOT NULL, PRIMARY KEY (project_id, path)
);
CREATE INDEX tree_file_entry ON tree_file (entry_id);

CREATE TABLE tree_due (
  project_id TEXT NOT NULL, kind TEXT NOT NULL, id TEXT NOT NULL, seq BIGINT NOT NULL, PRIMARY KEY (project_id, kind, id)
);

CREATE TABLE tree_line (
  project_id TEXT NOT NULL, ordinal BIGINT NOT NULL, action TEXT NOT NULL, path TEXT NOT NULL, entry_id TEXT NOT NULL,
  note TEXT NOT NULL, at BIGINT NOT NULL, PRIMARY KEY (project_id, ordinal)
);
