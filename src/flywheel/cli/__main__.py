"""``python -m flywheel.cli``."""

from flywheel.cli import main

main()
