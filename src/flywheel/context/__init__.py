"""Context: the sources of a briefing, the allocator that packs it, and how it reads."""
