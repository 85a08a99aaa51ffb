"""``python -m dpassay.audit`` is the ``dpassay`` command."""

from .start import main

if __name__ == "__main__":
    main()
