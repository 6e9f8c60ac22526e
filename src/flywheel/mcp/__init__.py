"""A face for agents: a few tools over the Model Context Protocol, thin over the daemon's socket."""
