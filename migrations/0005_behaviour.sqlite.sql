-- What was observed is fixed; only that it was consolidated is noted.

CREATE TRIGGER observation_fixed BEFORE UPDATE OF id, project_id, native_session, identity, kind, subject, facts, created_at
ON observation
BEGIN SELECT RAISE(ABORT, 'an observation is append only'); END;
