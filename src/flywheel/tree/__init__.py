"""The memory tree: all knowledge of a project as plain Markdown files, with their history in Git."""
