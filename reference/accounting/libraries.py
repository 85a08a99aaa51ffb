"""dp-accounting, imported when its opinion is asked: our own accounts never need it."""

from __future__ import annotations

from dpassay.reference.extras import Later

dp_event = Later("dp_accounting.dp_event")
rdp = Later("dp_accounting.rdp")
privacy_accountant = Later("dp_accounting.privacy_accountant")
