"""The daemon's log: one JSON object a line, rotated by size, redacted."""

from __future__ import annotations

import logging
from collections.abc import MutableMapping
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any

import orjson
import structlog

from flywheel.config import LogConfig
from flywheel.text.redact import Redactor


def start_log(folder: Path, config: LogConfig, redact: Redactor, *, console: bool = False) -> Path:
    """Send every log line of this process to ``folder/daemon.log`` (and to stderr with ``console``); its path.

    The file has mode 0600. Rotation keeps ``config.keep`` old files of ``config.max_mb`` MiB.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / "daemon.log"
    path.touch(mode=0o600)
    handlers: list[logging.Handler] = [
        RotatingFileHandler(path, maxBytes=config.max_mb << 20, backupCount=config.keep, encoding="utf-8")
    ]
    if console:
        handlers.append(logging.StreamHandler())
    logging.raiseExceptions = False  # a full disk is told by ``status``; a log line that is lost is no reason to stop
    logging.basicConfig(level=config.level.upper(), format="%(message)s", handlers=handlers, force=True)
    for loud in ("apscheduler", "uvicorn", "watchdog"):
        logging.getLogger(loud).setLevel(logging.WARNING)

    def scrub(logger: object, name: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        clean = redact.value(dict(event))
        return clean if isinstance(clean, dict) else event

    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            scrub,
            structlog.processors.JSONRenderer(serializer=lambda v, **_: orjson.dumps(v, default=str).decode()),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(config.level),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    return path
