"""Whether what a session was told was taken up, and what the session spent: signs, objections, the course, and SQL."""
