"""The glossary: what words mean in a project, what else they are called, and where they lead."""
