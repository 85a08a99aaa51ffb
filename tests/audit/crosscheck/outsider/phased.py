import numpy as np

from outsider.tools import into_ball, scale, table


def run(case, tape):
    p, s = case["problem"], case["schedule"]
    loss, radius, plan = p["loss"], p["domain_x"]["radius"], s["plan"]
    if loss["class"] != "problems.strongly_convex.LinearLoss":
        raise NotImplementedError(loss["class"])
    rows = table(loss["records"])
    n, d = rows.shape
    if n != s["n"] or (np.sqrt((rows**2).sum(axis=1)) > 1 + 1e-9).any():
        raise ValueError("other records than the schedule is made for")
    parts = [tape.fresh(f"phase/{k + 1}", n, plan["length"], order="index") for k in range(plan["count"])]
    centre = np.zeros(d)
    for k in range(plan["count"]):
        weight = plan["regularisers"][k]
        chosen = np.array(parts[k].indices, dtype=int)
        slope = -loss["slope"] * rows[chosen].mean(axis=0)
        # the minimiser of <slope, x> + weight/2 |x - centre|^2 on the ball
        point = into_ball(centre - slope / weight, radius)
        sensitivity = s["sensitivities"][k]
        std = scale(s, f"x/{k + 1}", sensitivity)
        centre = tape.gaussian(f"x/{k + 1}", point, std=std, sensitivity=sensitivity, batch=parts[k])
        if s["project"]:
            centre = into_ball(centre, radius)
    return centre
