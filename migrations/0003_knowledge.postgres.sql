-- The timeline only grows: what a claim says and when is fixed, and one that still has a citation is not deleted.

CREATE FUNCTION flywheel_claim_fixed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.text <> OLD.text OR NEW.role <> OLD.role OR NEW.said_at <> OLD.said_at OR NEW.recorded_at <> OLD.recorded_at
  THEN RAISE EXCEPTION 'a claim is evidence: what it says and when is fixed';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER claim_fixed BEFORE UPDATE ON claim FOR EACH ROW EXECUTE FUNCTION flywheel_claim_fixed();

CREATE FUNCTION flywheel_claim_kept() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM citation WHERE claim_id = OLD.id) THEN
    RAISE EXCEPTION 'a claim is evidence: its citations stand';
  END IF;
  RETURN OLD;
END $$;
CREATE TRIGGER claim_kept BEFORE DELETE ON claim FOR EACH ROW EXECUTE FUNCTION flywheel_claim_kept();
