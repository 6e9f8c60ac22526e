-- What was observed is fixed; only that it was consolidated is noted.

CREATE FUNCTION flywheel_observation_fixed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.id <> OLD.id OR NEW.project_id <> OLD.project_id OR NEW.native_session <> OLD.native_session
    OR NEW.identity <> OLD.identity OR NEW.kind <> OLD.kind OR NEW.subject <> OLD.subject OR NEW.facts <> OLD.facts
    OR NEW.created_at <> OLD.created_at
  THEN RAISE EXCEPTION 'an observation is append only';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER observation_fixed BEFORE UPDATE ON observation
FOR EACH ROW EXECUTE FUNCTION flywheel_observation_fixed();
