"""``python -m dpassay.audit`` is the ``dpassay`` command."""

from .cli import main

if __name__ == "__main__":
    main()
