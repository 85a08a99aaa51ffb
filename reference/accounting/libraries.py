"""dp-accounting, imported when something is composed: Gaussian releases alone never need it."""

from __future__ import annotations

from dpassay.reference.extras import Later

dp_event = Later("dp_accounting.dp_event")
rdp = Later("dp_accounting.rdp")
privacy_accountant = Later("dp_accounting.privacy_accountant")
pld_pmf = Later("dp_accounting.pld.pld_pmf")
privacy_loss_distribution = Later("dp_accounting.pld.privacy_loss_distribution")
