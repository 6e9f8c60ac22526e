CREATE EXTENSION IF NOT EXISTS vector;

CREATE TABLE change (
  seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, project_id TEXT NOT NULL, kind TEXT NOT NULL,
  id TEXT NOT NULL, op TEXT NOT NULL
);

-- ``vector`` is the truth (int8); ``vec`` is what pgvector searches, written from it by the vectors seam.
CREATE TABLE embedding (
  kind TEXT NOT NULL, id TEXT NOT NULL, model TEXT NOT NULL, project_id TEXT NOT NULL, dim INTEGER NOT NULL,
  vector BYTEA NOT NULL, sha256 TEXT NOT NULL, vec vector, PRIMARY KEY (kind, id, model)
);
CREATE INDEX embedding_model ON embedding (model, kind, project_id);

CREATE FUNCTION flywheel_fixed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION '% is evidence: insert only', TG_TABLE_NAME; END $$;
CREATE TRIGGER message_fixed BEFORE UPDATE ON message FOR EACH ROW EXECUTE FUNCTION flywheel_fixed();
CREATE TRIGGER document_fixed BEFORE UPDATE ON document FOR EACH ROW EXECUTE FUNCTION flywheel_fixed();
CREATE TRIGGER citation_fixed BEFORE UPDATE ON citation FOR EACH ROW EXECUTE FUNCTION flywheel_fixed();

CREATE FUNCTION flywheel_kept() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM tombstone WHERE kind = TG_TABLE_NAME AND id = OLD.id) THEN
    RAISE EXCEPTION '% is evidence: no tombstone', TG_TABLE_NAME;
  END IF;
  RETURN OLD;
END $$;
CREATE TRIGGER message_kept BEFORE DELETE ON message FOR EACH ROW EXECUTE FUNCTION flywheel_kept();
CREATE TRIGGER document_kept BEFORE DELETE ON document FOR EACH ROW EXECUTE FUNCTION flywheel_kept();
CREATE TRIGGER citation_kept BEFORE DELETE ON citation FOR EACH ROW EXECUTE FUNCTION flywheel_kept();

-- What was forgotten does not come back: a second import of it is skipped.
CREATE FUNCTION flywheel_blocked() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM tombstone WHERE kind = TG_TABLE_NAME AND id = NEW.id) THEN RETURN NULL; END IF;
  RETURN NEW;
END $$;
CREATE FUNCTION flywheel_message_blocked() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM tombstone WHERE kind = 'message' AND id = NEW.id
             OR kind = 'session' AND id = NEW.session_id) THEN RETURN NULL; END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER message_blocked BEFORE INSERT ON message FOR EACH ROW EXECUTE FUNCTION flywheel_message_blocked();
CREATE TRIGGER document_blocked BEFORE INSERT ON document FOR EACH ROW EXECUTE FUNCTION flywheel_blocked();
CREATE TRIGGER session_blocked BEFORE INSERT ON session FOR EACH ROW EXECUTE FUNCTION flywheel_blocked();
