"""Threads: sessions about one topic, tied together across agents and time; and what was said when."""
