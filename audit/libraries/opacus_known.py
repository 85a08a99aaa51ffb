"""What is found in Opacus 1.6.0."""

from __future__ import annotations

from .known import Known

KNOWN = (
    Known(
        id="number-of-records",
        models=("make_private, full batches, number of records not public, mean",),
        says=(
            "With loss_reduction mean, the default, the noisy sum is divided by the expected batch: the number of "
            "records times the sampling rate. The noise of the published weights then tells how many records there "
            "are. The claim is kept where that number is public (a record that is added takes the place of one without "
            "a gradient, above), or with loss_reduction sum."
        ),
        documented="expected_batch_size is said to be what averages; that it must be public is not said",
        thread="",
        program="""\
import torch
from opacus import PrivacyEngine
from torch.utils.data import DataLoader, TensorDataset
def weight(n):
    model = torch.nn.Linear(1, 1, bias=False)
    torch.nn.init.zeros_(model.weight)
    loader = DataLoader(TensorDataset(torch.zeros(n, 1)), batch_size=n)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    model, optimizer, loader = PrivacyEngine().make_private(module=model, optimizer=optimizer, data_loader=loader,
        noise_multiplier=1.0, max_grad_norm=1.0, poisson_sampling=False)
    for (x,) in loader:
        model(x).mean().backward()
        optimizer.step()
    return model._module.weight.item()
torch.manual_seed(0)
print(*(torch.tensor([weight(n) for _ in range(300)]).std().item() for n in (1, 2)))
""",
        shows=lambda seen: seen[0] > 1.6 * seen[1],
        reads="standard deviations of the weight after one step without any gradient, with one record and with two",
    ),
)
