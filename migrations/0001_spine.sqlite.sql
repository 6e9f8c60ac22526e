CREATE TABLE change (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, project_id TEXT NOT NULL, kind TEXT NOT NULL, id TEXT NOT NULL, op TEXT NOT NULL
);

CREATE TABLE embedding (
  kind TEXT NOT NULL, id TEXT NOT NULL, model TEXT NOT NULL, project_id TEXT NOT NULL, dim INTEGER NOT NULL,
  vector BLOB NOT NULL, sha256 TEXT NOT NULL, PRIMARY KEY (kind, id, model)
) WITHOUT ROWID;
CREATE INDEX embedding_model ON embedding (model, kind, project_id);

CREATE TRIGGER message_fixed BEFORE UPDATE ON message
BEGIN SELECT RAISE(ABORT, 'message is evidence: insert only'); END;
CREATE TRIGGER document_fixed BEFORE UPDATE ON document
BEGIN SELECT RAISE(ABORT, 'document is evidence: insert only'); END;
CREATE TRIGGER citation_fixed BEFORE UPDATE ON citation
BEGIN SELECT RAISE(ABORT, 'citation is evidence: insert only'); END;

CREATE TRIGGER message_kept BEFORE DELETE ON message
WHEN NOT EXISTS (SELECT 1 FROM tombstone WHERE kind = 'message' AND id = OLD.id)
BEGIN SELECT RAISE(ABORT, 'message is evidence: no tombstone'); END;
CREATE TRIGGER document_kept BEFORE DELETE ON document
WHEN NOT EXISTS (SELECT 1 FROM tombstone WHERE kind = 'document' AND id = OLD.id)
BEGIN SELECT RAISE(ABORT, 'document is evidence: no tombstone'); END;
CREATE TRIGGER citation_kept BEFORE DELETE ON citation
WHEN NOT EXISTS (SELECT 1 FROM tombstone WHERE kind = 'citation' AND id = OLD.id)
BEGIN SELECT RAISE(ABORT, 'citation is evidence: no tombstone'); END;

-- What was forgotten does not come back: a second import of it is skipped.
CREATE TRIGGER message_blocked BEFORE INSERT ON message
WHEN EXISTS (SELECT 1 FROM tombstone WHERE kind = 'message' AND id = NEW.id)
  OR EXISTS (SELECT 1 FROM tombstone WHERE kind = 'session' AND id = NEW.session_id)
BEGIN SELECT RAISE(IGNORE); END;
CREATE TRIGGER document_blocked BEFORE INSERT ON document
WHEN EXISTS (SELECT 1 FROM tombstone WHERE kind = 'document' AND id = NEW.id)
BEGIN SELECT RAISE(IGNORE); END;
CREATE TRIGGER session_blocked BEFORE INSERT ON session
WHEN EXISTS (SELECT 1 FROM tombstone WHERE kind = 'session' AND id = NEW.id)
BEGIN SELECT RAISE(IGNORE); END;
