"""The lint: what code can say is wrong with the knowledge, each check one pure function, and what to do about it."""
