"""No model: whoever asks gets `NoModel`, and goes on by rules."""

from __future__ import annotations

from flywheel.llm import Beat, NoModel, Reply, Request, Stopping, never, quiet


class NoLlm:
    """Satisfies `Llm` without a model. ``reason`` says why there is none."""

    provider = "rules"
    model = ""

    def __init__(self, reason: str = "no key and no provider is set") -> None:
        self.reason = reason

    @property
    def available(self) -> bool:
        """Never."""
        return False

    def strong(self) -> NoLlm:
        """None either."""
        return self

    def ask(self, request: Request, *, stopping: Stopping = never, beat: Beat = quiet) -> Reply:
        """Raises NoModel."""
        raise NoModel(f"there is no language model ({self.reason}); see: flywheel llm status")

    def close(self) -> None:
        """Nothing is open."""
