"""Which project a folder belongs to: git facts in, identity out, remembered paths."""
