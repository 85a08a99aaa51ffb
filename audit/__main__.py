"""``python -m dpassay.audit`` is the ``dpassay`` command."""

from .cli import main

main()
