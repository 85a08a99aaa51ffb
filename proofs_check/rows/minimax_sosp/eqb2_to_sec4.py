"""minimax_sosp: rows of eqB2, eq30, eq31, lemma1, sec4."""

from __future__ import annotations

from dpassay.proofs_check.rows.build import PRIVACY, UTILITY, identity, inequality, privacy, program, rates, units

from .privacy_terms import DP, POP, POP_REFRESH, POP_REGION, REFRESHES, row

ROWS = [
    row(
        "eqB2/zero_noise_first_inner_step",
        "B.2, sigma_zeta",
        "noise proportional to |y_(t,k) - y_(t,k-1)| covers the query at k = 0, where y does not move and x does",
        inequality("2*L*dx/S2 <= C2*L*dy/n", "L dx C2 n S2", let={"dy": "0"}),
        severity=PRIVACY,
        corrected=("noise proportional to |w_(t,k) - w_(t,k-1)|: it covers both the move of x at k = 0 and those of y"),
        corrected_claim=inequality("max(2*L*dx/S2, 2*L*dy/S2) <= 2*L*sqrt(dx**2 + dy**2)/S2", "L dx dy S2"),
        reading="Algorithm 3, line 2, applies in place of B.2: a noise of fixed size C_u >= L |x_t - x_(t-1)|",
        saved_by=inequality("2*L*dx/S2 <= 2*C_u/S2", "L dx S2", {"C_u": "[L*dx, inf)"}),
        explain=(
            "Algorithm 3 sets y_(t,-1) = y_(t,0), so the printed noise is zero while the gradient difference "
            "between x_t and x_(t-1) is released."
        ),
    ),
    row(
        "eq30/refresh_sensitivity",
        "eq. (30)",
        "replacing one of S_1 gradients of norm <= M moves the mean by at most 2M/S_1",
        inequality("abs(a - b)/S1 <= 2*M/S1", "M S1", {"a": "[-M, M]", "b": "[-M, M]"}),
        severity=PRIVACY,
    ),
    row(
        "eq30/coordinatewise",
        "eq. (30) with Assumption 1",
        (
            "M-Lipschitz over each of d coordinates, as Section 2.2 insists (|gradient| up to sqrt(d) M), moves the "
            "mean of S_1 gradients by at most 2M/S_1"
        ),
        inequality(
            "2*sqrt(d)*M/S1 <= 2*M/S1",
            "M",
            {"d": "integer [1, 10000]", "S1": "[1, 100000]"},
            hints=[{"d": "100", "M": "1", "S1": "1000"}],
        ),
        severity=PRIVACY,
        corrected="2 sqrt(d) M/S_1",
        corrected_claim=identity(
            "sqrt(d*(2*M)**2)/S1 == 2*sqrt(d)*M/S1", "M", {"d": "integer [1, 10000]", "S1": "[1, 100000]"}
        ),
        reading="a coordinate is one of the two arguments x and y, so M bounds the norm",
        saved_by=identity("(M - (-M))/S1 == 2*M/S1", "M S1"),
    ),
    row(
        "eq31/difference_sensitivity",
        "eq. (31)",
        "two gradient differences (in x and in y) of norm <= L r each: together they move by at most 2 sqrt 2 L r/S_2",
        inequality(
            "sqrt((a - b)**2 + (c - e)**2)/S2 <= 2*sqrt(2)*L*r/S2",
            "L r S2",
            {"a": "[-L*r, L*r]", "b": "[-L*r, L*r]", "c": "[-L*r, L*r]", "e": "[-L*r, L*r]"},
        ),
        severity=PRIVACY,
    ),
    row(
        "eqB2/delta_composition",
        "B.2",
        "(epsilon/2, delta) for u and (epsilon/2, delta) for v compose to (epsilon, delta)",
        identity("delta + delta == delta", "delta"),
        corrected="(epsilon/2, delta/2) each",
        explain="A slip in delta that the open constants C_1, C_2 absorb.",
        repair="delta/2 each",
        saved_by=identity("delta/2 + delta/2 == delta", "delta"),
    ),
    row(
        "eqB2/rate_instead_of_mechanism",
        "B.2",
        (
            "a sampled increment with the printed noise (C_2 = 1; eqB2/no_constant: nor any other) is (epsilon/2, "
            "delta)-DP for its fresh batch of S_2"
        ),
        privacy(
            "2*sqrt(log(1.25/delta))/(n*epsilon)",
            "2/S2",
            "epsilon/2",
            "delta",
            "",
            POP_REGION,
            instances=POP,
            note="in units of L |y_k - y_(k-1)|; each record used once",
        ),
        severity=PRIVACY,
        corrected=(
            "2 sqrt 2 C_2 L sqrt(log(1.25/delta))/(S_2 epsilon) r when every record is used once, with C_2 >= 2 sqrt 2"
        ),
        corrected_claim=privacy(
            "2*sqrt(2)*C2*sqrt(log(1.25/delta))/(S2*epsilon)",
            "2*sqrt(2)/S2",
            "epsilon/2",
            "delta",
            "",
            {**POP_REGION, "C2": "[2*sqrt(2), 100]"},
            instances=[{**POP[0], "C2": "2*sqrt(2)"}],
            note="in units of L r",
        ),
        reading="subsampling amplification with rate S_2/n",
        saved_by=privacy(
            "2*sqrt(log(1.25/delta))/(n*epsilon)",
            "2/S2",
            "epsilon/2",
            "delta",
            "",
            POP_REGION,
            rate="S2/n",
            instances=POP,
        ),
        explain=(
            "No constant C_2 mends it: the ratio of needed and printed noise is n/S_2. Sampling multiplies epsilon "
            "only while the un-sampled mechanism is private; here its noise is S_2/n of its sensitivity."
        ),
    ),
    row(
        "eqB2/no_constant",
        "B.2",
        "some constant C_2 brings the printed noise L r/n to the order of the sensitivity L r/S_2 of an increment",
        rates("L*r/S2 <= L*r/n", "n", "n S2", constants="L r", conditions=("S2 >= 1", "S2 <= n")),
        severity=PRIVACY,
        corrected="L r/S_2, up to the constant",
        corrected_by="eqB2/rate_instead_of_mechanism",
        degenerate="S_2 = n",
        saved_by=rates("L*r/S2 <= L*r/n", "n", "n", constants="L r", let={"S2": "n"}),
        defect="eqB2/rate_instead_of_mechanism",
    ),
    row(
        "eqB2/refresh_noise",
        "B.2",
        "one refresh with noise C_1 M sqrt(log(1.25/delta))/(S_1 epsilon), C_1 = 4 sqrt 2, is (epsilon/2, delta)-DP",
        privacy(
            "4*sqrt(2)*sqrt(log(1.25/delta))/(S1*epsilon)",
            "2/S1",
            "epsilon/2",
            "delta",
            "",
            {**DP, "S1": "[1, 100000]"},
        ),
        severity=PRIVACY,
        explain="The constant is left open; 1 would not do.",
    ),
    row(
        "eqB2/refreshes_of_all_records",
        "B.2 with Lemma 8",
        (
            "T/q refreshes of S_1 = n records (Lemma 8), each with the printed noise, C_1 = 4 sqrt 2, are "
            "(epsilon/2, delta)-DP"
        ),
        privacy(
            "4*sqrt(2)*sqrt(log(1.25/delta))/(S1*epsilon)",
            "2/S1",
            "epsilon/2",
            "delta",
            "",
            REFRESHES,
            count="ceil(T/q)",
            instances=[{**POP_REFRESH, "S1": "10000"}],
            note="in units of M",
        ),
        severity=PRIVACY,
        corrected="S_1 = n^(2/3)",
        corrected_as_saved=True,
        reading="S_1 = n^(2/3), as in the proof: T S_1/q <= n, and a record is in one refresh",
        saved_by=privacy(
            "4*sqrt(2)*sqrt(log(1.25/delta))/(S1*epsilon)",
            "2/S1",
            "epsilon/2",
            "delta",
            "",
            REFRESHES,
            instances=[{**POP_REFRESH, "S1": "464"}],
        ),
        explain="T/q = e^(-1/3) grows with n, so no constant C_1 mends it.",
    ),
    row(
        "eqB2/called_a_variance",
        "B.2",
        "'noise with variance C_1 M sqrt(log(1.25/delta))/(S_1 epsilon)' for a gradient is a squared gradient",
        units("M/S1 == sigma2", free="S1", M="v/l", sigma2="v**2/l**2"),
        corrected="standard deviation",
        repair="standard deviation",
        saved_by=units("M/S1 == sigma", free="S1", M="v/l", sigma="v/l"),
    ),
    row(
        "lemma1/noise_proportional_to_step",
        "Lemmas 1 and 5 against Algorithm 3",
        "noise of fixed size C_u meets the condition B_2^2 |w_t - w_(t-1)|^2 for every step",
        inequality("C_u**2*x <= L**2*x*r**2", "C_u x L r"),
        severity=UTILITY,
        corrected="scale the noise by |w_t - w_(t-1)|, which is public",
        repair="C_u = L |w_t - w_(t-1)|, set anew at each step",
        saved_by=inequality("C_u**2*x <= L**2*x*r**2", "x L r", let={"C_u": "L*r"}),
    ),
    row(
        "sec4/post_processing",
        "Section 4",
        "given Algorithm 3's releases v_t and u_t, no line of Algorithm 2 reads the data",
        program(
            # m_s, x_(m_s) and the releases since: of an earlier pass (before one: alg2/output_without_escape)
            "x_0 released since_m_s m_s x_m_s eta eta_H r alpha t_thres Dbar T",
            "1: escape s esc x <- x_0",
            "loop",
            "2: t <- T",
            "3: y v u <- released x",
            "4: branch <- escape",
            "if",
            "5: branch <- v alpha",
            "if",
            "6: next <- x eta v",
            "else",
            "8: m_s x_m_s s escape esc <- t x s",
            "9: next <- x r",
            "end",
            "else",
            "12: movement <- since_m_s v eta_H",
            "13: branch <- movement t m_s Dbar",
            "if",
            "14: eta_t <- since_m_s v t m_s Dbar",
            "15: next escape <- x eta_t v",
            "else",
            "17: eta_t <- eta_H",
            "18: next esc <- x eta_t v esc",
            "19: output <- esc t_thres x_m_s",
            "end",
            "end",
            "21: x <- next",
            "end",
            "22: output <- x_m_s",
        ),
        severity=PRIVACY,
    ),
]
