"""Finding things: candidates from indexes and store, fused, filtered again, ranked; and why things were chosen."""
