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
            "a gradient, above), or with loss_reduction sum. The more weights, the surer one step tells it (issue 819 "
            "of the same repository). One record more may change much: with batches of 50, expected_batch_size is 50 "
            "for 100 records and 33 for 101, as the rate is one over the number of batches."
        ),
        documented="expected_batch_size is said to be what averages; that it must be public is not said",
        thread="https://github.com/meta-pytorch/opacus/issues/571",
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
    Known(
        id="batches-in-order",
        models=("make_private, one pass over 16 records in order, without Poisson sampling",),
        says=(
            "With poisson_sampling=False the loader stays as it is, but epsilon is that of Poisson sampling at the "
            "rate of one batch in all. Where batches come in a known order nothing is hidden: whoever knows which "
            "step a record is in sees it with the noise of one step alone."
        ),
        documented=(
            "said: it does not fit the assumptions of the accounting, but can be a good approximation; that epsilon is "
            "too small by far in a known order is not"
        ),
        thread="https://github.com/meta-pytorch/opacus/issues/80",
        program="""\
import math, torch
from opacus import PrivacyEngine
from torch.utils.data import DataLoader, TensorDataset
def train(first, steps):
    x = torch.cat([torch.full((1, 1), first), torch.zeros(99, 1)])
    model = torch.nn.Linear(1, 1, bias=False)
    torch.nn.init.zeros_(model.weight)
    optimizer, engine = torch.optim.SGD(model.parameters(), lr=1.0), PrivacyEngine(accountant="rdp")
    model, optimizer, loader = engine.make_private(module=model, optimizer=optimizer, poisson_sampling=False,
        data_loader=DataLoader(TensorDataset(x), batch_size=1), noise_multiplier=0.7, max_grad_norm=1.0)
    for _, (row,) in zip(range(steps), loader):
        optimizer.zero_grad()
        model(row).sum().backward()
        optimizer.step()
    return -model._module.weight.item(), engine
torch.manual_seed(0)
epsilon = train(1.0, 100)[1].get_epsilon(0.01)
here, there = (sum(train(first, 1)[0] > 1.4 for _ in range(300)) / 300 for first in (1.0, 0.0))
print(epsilon, here, there, math.exp(epsilon) * there + 0.01)
""",
        shows=lambda seen: seen[1] > 1.5 * seen[3],
        reads=(
            "epsilon at delta 0.01 after all 100 steps; how often the weight after the first step is below -1.4, with "
            "the first record and without a gradient of it; and how often it may be so with it at most"
        ),
    ),
    Known(
        id="adaptive-clipping",
        models=("make_private, full batches, number of records not public, sum, adaptive clipping",),
        says=(
            "AdaClipDPOptimizer divides the noisy number of gradients that are not clipped by the number of records in "
            "the batch, which nothing hides, also with loss_reduction sum. The clipping bound, and with it the noise "
            "of the next step, tells how many records there were; with Poisson sampling that is private. Theorem 1 of "
            "the paper that is cited (arXiv 1905.03871) counts less one half each and divides by a public number."
        ),
        documented="not mentioned",
        thread="",
        program="""\
import math, torch
from opacus import PrivacyEngine
from torch.utils.data import DataLoader, TensorDataset
def bound(n):
    model = torch.nn.Linear(1, 1, bias=False)
    torch.nn.init.zeros_(model.weight)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    model, optimizer, loader = PrivacyEngine().make_private(module=model, optimizer=optimizer, poisson_sampling=False,
        data_loader=DataLoader(TensorDataset(torch.zeros(n, 1)), batch_size=n), noise_multiplier=1.0, max_grad_norm=1.0,
        loss_reduction="sum", clipping="adaptive", target_unclipped_quantile=0.5, clipbound_learning_rate=1.0,
        max_clipbound=1e9, min_clipbound=1e-9, unclipped_num_std=1.0)
    for (x,) in loader:
        model(x).sum().backward()
        optimizer.step()
    return math.log(float(optimizer.max_grad_norm))
torch.manual_seed(0)
print(*(torch.tensor([bound(n) for _ in range(300)]).std().item() for n in (1, 2)))
""",
        shows=lambda seen: seen[0] > 1.6 * seen[1],
        reads="standard deviations of the logarithm of the clipping bound after one step, with one record and with two",
    ),
    Known(
        id="adaptive-clipping-sampled",
        models=("make_private, Poisson batches, adaptive clipping",),
        says=(
            "The same division under Poisson sampling, where the number of all records may well be public: the size of "
            "the batch is not, and the clipping bound tells it. Whoever knows which other records were drawn then "
            "knows whether this one was, so sampling does not hide it. And a batch without a record ends the training "
            "with an error: that there was one is seen as well. The noise of the number itself is paid for: Theorem 1 "
            "raises that of the gradients, so that both together cost what noise_multiplier says, which is what is "
            "accounted. For two records at rate 1/2 the law of a step can be written down "
            "(audit/libraries/opacus_adaptive.py): three steps realise more than the accountant claims (table above). "
            "There the place of the record that is not there is taken by one without a gradient, as in all rows whose "
            "number of records is public; if it is left out, the batches are smaller too, and the same steps realise "
            "5.39."
        ),
        documented="not mentioned; make_private offers poisson_sampling and clipping adaptive together",
        thread="",
        program="""\
import logging, math, torch
from opacus import PrivacyEngine
from torch.utils.data import DataLoader, TensorDataset
logging.disable()
def step():
    model = torch.nn.Linear(1, 1, bias=False)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    model, optimizer, loader = PrivacyEngine().make_private(module=model, optimizer=optimizer, noise_multiplier=1.0,
        data_loader=DataLoader(TensorDataset(torch.zeros(2, 1)), batch_size=1), max_grad_norm=1.0,
        clipping="adaptive", target_unclipped_quantile=0.5, clipbound_learning_rate=1.0, max_clipbound=1e9,
        min_clipbound=1e-9, unclipped_num_std=1.0)
    (x,) = next(iter(loader))
    model(x).mean().backward()
    try:
        optimizer.step()
    except RuntimeError:
        return len(x), None
    return len(x), math.log(float(optimizer.max_grad_norm))
torch.manual_seed(0)
seen = [step() for _ in range(300)]
print(*(torch.tensor([bound for size, bound in seen if size == n]).std().item() for n in (1, 2)))
print(sum(bound is None for size, bound in seen), sum(size == 0 for size, bound in seen))
""",
        shows=lambda seen: seen[0] > 1.6 * seen[1] and seen[2] == seen[3] > 0,
        reads=(
            "standard deviations of the logarithm of the clipping bound after one step on batches of one and of two "
            "records without a gradient; in how many of 300 runs an error was raised, in how many the batch was empty"
        ),
    ),
    Known(
        id="ghost-column",
        models=("make_private, full batches, ghost clipping, losses of shape (n, 1)",),
        says=(
            "Ghost clipping multiplies the losses of the records by their clipping factors. Where the criterion gives "
            "losses of shape (n, 1), as MSELoss does for a model with one output and targets of that shape, factors of "
            "shape (n,) make a table of every loss with every factor, which is summed. A record with a small gradient "
            "then lets the gradients of all others through, whatever their norm, for neighbours of either kind. With "
            "losses of shape (n,) the claim is kept. No error or warning is given."
        ),
        documented="the criterion is called a loss function; the shape that it must give is not mentioned",
        thread="",
        program="""\
import torch
from opacus import PrivacyEngine
from torch.utils.data import DataLoader, TensorDataset
def norm(shape):
    x, y = torch.tensor([[1000.0], [0.001]]), torch.zeros(2, 1)
    model = torch.nn.Linear(1, 1, bias=False)
    torch.nn.init.constant_(model.weight, 0.5)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    model, optimizer, criterion, loader = PrivacyEngine().make_private(module=model, optimizer=optimizer,
        data_loader=DataLoader(TensorDataset(x, y), batch_size=2), criterion=torch.nn.MSELoss(), noise_multiplier=1.0,
        max_grad_norm=1.0, grad_sample_mode="ghost", poisson_sampling=False)
    for a, b in loader:
        criterion(model(a).view(shape), b.view(shape)).backward()
        optimizer.step()
    return optimizer.params[0].summed_grad.norm().item()
print(norm((2,)), norm((2, 1)))
""",
        shows=lambda seen: seen[0] <= 2 < 100 < seen[1],
        reads="norm of a sum of two gradients that are clipped to norm 1, with losses of shape (2,) and (2, 1)",
    ),
)
