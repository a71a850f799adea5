"""Choosing the device, and the one line that says why a card is not used. None of it needs a card."""

from __future__ import annotations

import contextlib
from types import SimpleNamespace

import pytest

from kestrel_cuda import available
from kestrel_cuda.memory import TorchMemory
from kestrel_cuda.operations import check_widths
from kestrel_engine import loader
from kestrel_engine.errors import KestrelError, UsageError
from kestrel_engine.events import Loading
from kestrel_engine.options import EngineOptions

GIGABYTE = 10**9


def torch_with(cuda: str | None = "13.0", found: bool = True, capability=(9, 0)) -> SimpleNamespace:
    there = SimpleNamespace(is_available=lambda: found, get_device_capability=lambda: capability)
    return SimpleNamespace(__version__="2.13", version=SimpleNamespace(cuda=cuda), cuda=there)


@pytest.fixture
def card(monkeypatch):
    """A machine with a usable card; `card(name=value)` breaks a part of it."""

    def change(driver=True, missing=None, torch=None, toolkit=None, free=24 * GIGABYTE):
        torch = torch or torch_with()
        for name, value in {
            "_driver": lambda: driver,
            "_missing": lambda *modules: missing,
            "_torch": lambda: torch,
            "_toolkit": lambda: toolkit,
            "free_memory": lambda: free,
        }.items():
            monkeypatch.setattr(available, name, value)

    change()
    return change


BROKEN = {
    "driver": (dict(driver=False), "no NVIDIA driver"),
    "torch": (dict(missing="torch"), "torch is not installed: pip install"),
    "numba-cuda": (dict(missing="numba_cuda"), "numba_cuda is not installed: pip install"),
    "torch without CUDA": (dict(torch=torch_with(cuda=None)), "built without CUDA"),
    "no card": (dict(torch=torch_with(found=False)), "torch finds no card"),
    "old card": (dict(torch=torch_with(capability=(7, 5))), "older than compute capability 8.0"),
    "toolkit": (dict(toolkit="libnvvm not found"), "compiler is not usable (libnvvm not found)"),
}


@pytest.mark.parametrize("broken, says", BROKEN.values(), ids=BROKEN)
def test_one_line_says_why_there_is_no_card(card, broken, says):
    card(**broken)
    problem = available.problem()
    assert says in problem and ":" in problem and "\n" not in problem
    assert loader.choose_device("auto") == ("cpu", problem)
    assert loader.choose_device("cpu") == ("cpu", None)
    with pytest.raises(UsageError, match="--device cpu"):
        loader.choose_device("cuda")


def test_a_usable_card_is_taken(card):
    assert available.problem() is None
    assert loader.choose_device("auto") == loader.choose_device("cuda") == ("cuda", None)


def test_a_machine_without_a_driver_is_told_without_torch(monkeypatch):
    monkeypatch.setattr(available, "_driver", lambda: False)
    monkeypatch.setattr(available, "_torch", lambda: pytest.fail("torch was asked"))
    assert "driver" in available.problem()


CONFIG = SimpleNamespace(vocab_size=248320, hidden_size=5120, tie_word_embeddings=False)
WEIGHTS_27B = 27 * GIGABYTE


@pytest.mark.parametrize(
    "quant, free, expected", [("auto", 80, "q8"), ("auto", 32, "q4"), ("q8", 80, "q8"), ("q4", 32, "q4")]
)
def test_the_best_format_that_fits_is_taken(card, quant, free, expected):
    card(free=free * GIGABYTE)
    assert loader._fit_card(EngineOptions(quant=quant), CONFIG, WEIGHTS_27B) == (expected, None)


@pytest.mark.parametrize("quant, advice", [("q8", "--quant q4"), ("auto", "--device cpu")])
def test_a_model_that_does_not_fit_says_what_would(card, quant, advice):
    card(free=16 * GIGABYTE)
    with pytest.raises(UsageError, match=advice):
        loader._fit_card(EngineOptions(quant=quant, device="cuda"), CONFIG, WEIGHTS_27B)
    _, why = loader._fit_card(EngineOptions(quant=quant), CONFIG, WEIGHTS_27B)
    assert "GB free" in why and "\n" not in why


def test_auto_says_why_and_runs_on_the_cpu(monkeypatch, tiny_model):
    monkeypatch.setattr(available, "_driver", lambda: False)
    events = []
    loaded = loader.load(EngineOptions(str(tiny_model), context=64, threads=1), events.append)
    assert loaded.device == "cpu"
    stages = [event.stage for event in events if isinstance(event, Loading)]
    assert any(stage.startswith("using the CPU: no NVIDIA driver") for stage in stages)
    assert "using the CPU: no NVIDIA driver is installed" in stages, "and nothing that sounds like an error"


def test_the_cards_memory_running_out_is_one_line():
    """Wherever it is noticed: in an allocation, a launch, or the making of a graph."""
    torch = pytest.importorskip("torch")
    for error in (
        torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"),
        RuntimeError("[700] Call to cuMemAlloc results in CUDA_ERROR_OUT_OF_MEMORY"),
    ):
        says = pytest.raises(KestrelError, match="--quant q4, a smaller --context")
        with says as caught, available.memory_guard():
            raise error
        assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match="anything else"), available.memory_guard():
        raise ValueError("anything else")


def test_an_allocation_is_guarded():
    class Full:
        float32 = None
        cuda = SimpleNamespace(stream=lambda stream: contextlib.nullcontext())

        def empty(self, *_, **__):
            raise RuntimeError("out of memory")

    memory = TorchMemory.__new__(TorchMemory)
    memory._torch, memory._stream = Full(), None
    with pytest.raises(KestrelError, match="the card's memory"):
        memory.empty((2, 3), "float32")


def test_heads_without_a_kernel_are_refused():
    with pytest.raises(UsageError, match="head_dim is 48"):
        check_widths(SimpleNamespace(head_dim=48, linear_value_head_dim=32))
    check_widths(SimpleNamespace(head_dim=256, linear_value_head_dim=128))
