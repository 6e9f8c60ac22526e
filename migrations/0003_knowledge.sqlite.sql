-- The timeline only grows: what a claim says and when is fixed, and one that still has a citation is not deleted.

CREATE TRIGGER claim_fixed BEFORE UPDATE OF text, role, said_at, recorded_at ON claim
WHEN NEW.text <> OLD.text OR NEW.role <> OLD.role OR NEW.said_at <> OLD.said_at OR NEW.recorded_at <> OLD.recorded_at
BEGIN SELECT RAISE(ABORT, 'a claim is evidence: what it says and when is fixed'); END;
CREATE TRIGGER claim_kept BEFORE DELETE ON claim
WHEN EXISTS (SELECT 1 FROM citation WHERE claim_id = OLD.id)
BEGIN SELECT RAISE(ABORT, 'a claim is evidence: its citations stand'); END;
