"""Rules that look back at one session: a module for each thing that they look for; pure."""

from __future__ import annotations

from flywheel.retro.rules.look import Look, look_back
from flywheel.retro.rules.task import condense
from flywheel.retro.rules.values import Point
from flywheel.retro.telling import VERSION, lines

__all__ = ["VERSION", "Look", "Point", "condense", "lines", "look_back"]
