"""The lint of one project: what is read for the checks, the job that runs them, and the fixes that are safe."""
