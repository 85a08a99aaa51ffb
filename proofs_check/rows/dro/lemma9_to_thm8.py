"""dro: rows of lemma9, eq40, eq42, eq43, thm8."""

from __future__ import annotations

from dpassay.proofs_check.rows.build import UTILITY, budget, identity, inequality, rates, same

from .recursive_utility_terms import row

ROWS = [
    row(
        "lemma9/only_X",
        "Lemma 9, eq. (37)",
        "8 |z - grad Psi|^2 <= 32 L_Psi^2 X by Lemma 7, whose bound has V and U too",
        inequality("8*4*LP**2*(X + V + U) <= 32*LP**2*X", "LP X V U"),
        severity=UTILITY,
        corrected="32 L_Psi^2 (X + V + U)",
        corrected_claim=identity("8*(4*LP**2*(X + V + U)) == 32*LP**2*(X + V + U)", "LP X V U"),
        degenerate="V = U = 0 (full, noiseless gradients)",
        saved_by=inequality("8*4*LP**2*(X + V + U) <= 32*LP**2*X", "LP X", let={"V": "0", "U": "0"}),
    ),
    row(
        "lemma9/four",
        "Lemma 9, eq. (33) and (37)",
        "260 - 8 * 32 = 4",
        identity("260*LP**4 - 8*LP**2*(32*LP**2) == 4*LP**4", "LP"),
        severity=UTILITY,
    ),
    row(
        "lemma9/64",
        "Lemma 9, eq. (38)",
        "8 L_Psi^2 * 8 Psi_0 = 64 L_Psi^2 Psi_0",
        identity("8*LP**2*8*Psi0 == 64*LP**2*Psi0", "LP Psi0"),
    ),
    row(
        "lemma9/noise_of_each_step",
        "Lemma 9, eq. (38)",
        "T steps, each with noise sigma_s^2/eta, add c sigma_s^2 with c independent of T",
        rates("T*s/eta <= s", "T", "T s eta", constants="eta"),
        severity=UTILITY,
        corrected=(
            "sum over t of sigma_s^2/eta_t, which grows like T^(4/3): t^(1/3) summed is at least (3/4) "
            "T^(4/3) (the step to T + 1)"
        ),
        corrected_claim=inequality("3/4*((T + 1)**(4/3) - T**(4/3)) <= (T + 1)**(1/3)", "", {"T": "integer [1, 1000]"}),
        repair="c_(sigma_s) hides the sum over t",
        saved_by=rates("T*s/eta == c*s", "T", "T s eta", constants="eta", let={"c": "T/eta"}),
        explain="Lemma 8 has sigma_s^2 in every step.",
    ),
    row(
        "lemma9/index_of_lemma",
        "Lemma 9, proof",
        "the lemma that (35) invokes exists (Lemma 12; the paper has 9)",
        budget("12 <= 9"),
        corrected="Lemma 7, whose 4 L_Psi^2 becomes the 32 L_Psi^2 of (37)",
        corrected_by="lemma9/32",
        repair="Lemma 7",
        saved_by=budget("7 <= 9"),
    ),
    row("eq42/young", "eq. (42)", "a b <= a^2 + b^2/4", inequality("a*b <= a**2 + b**2/4", "a b")),
    row(
        "eq42/scaled",
        "eq. (42)",
        "a b <= eta a^2 + b^2/(4 eta)",
        inequality("a*b <= eta*a**2 + b**2/(4*eta)", "a b eta"),
    ),
    row(
        "eq43/coefficient",
        "eq. (43)",
        "(1/eta - L)/2 - 1/(4 eta) = (1 - 2 eta L)/(4 eta)",
        identity("(1/eta - L)/2 - 1/(4*eta) == (1 - 2*eta*L)/(4*eta)", "eta L"),
        severity=UTILITY,
    ),
    row(
        "thm8/divided",
        "after eq. (43)",
        "4 eta/(1 - 2 eta L) = eta/(1/4 - eta L/2)",
        identity("4*eta/(1 - 2*eta*L) == eta/(1/4 - eta*L/2)", "eta L"),
    ),
    row(
        "thm8/sign_of_move",
        "Theorem 8, from Xu et al., against the last display",
        (
            "the sign of (w_t - w_(t+1))/eta_t in the stationarity measure is the same (z the direction, g the "
            "gradient at w_(t+1))"
        ),
        same({"first": "z - g + z", "last": "z - g - z"}, "z g"),
        corrected="as in the last display: z - grad Psi(w_(t+1)) - (w_t - w_(t+1))/eta = -grad Psi(w_(t+1))",
        repair="as in the last display",
        saved_by=same({"first": "z - g - z", "last": "-g"}, "z g"),
        explain="(w_t - w_(t+1))/eta_t = z_t.",
    ),
]
