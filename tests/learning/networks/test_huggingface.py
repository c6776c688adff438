"""Any sequence classifier of transformers is a network like others; here, one that is made on the spot."""

from __future__ import annotations

import socket
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from crowdpilot.learning import CrowdClassifier, tune
from crowdpilot.learning.data.inputs import to_rows
from crowdpilot.learning.layers import Standardize, find_last_linear, forward_with_features
from crowdpilot.learning.registry import make_network
from crowdpilot.simulation import one_coin
from crowdpilot.votes import Votes

transformers = pytest.importorskip("transformers")
CPU = torch.device("cpu")
WORDS = ["film", "plot", "the", "was", "good", "great", "fine", "bad", "dull", "poor"]


def make_folder(folder: Path, labels: int = 5) -> str:
    """A folder with a tiny BERT of random weights and a tokenizer that knows a few words."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    vocabulary = {word: n for n, word in enumerate([*special, *WORDS])}
    pieces = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    pieces.pre_tokenizer = pre_tokenizers.Whitespace()
    pieces.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=pieces, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]"
    ).save_pretrained(folder)
    config = transformers.BertConfig(
        vocab_size=len(vocabulary), hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=64, max_position_embeddings=32, num_labels=labels,
    )  # fmt: skip
    with torch.random.fork_rng():
        torch.manual_seed(0)
        transformers.BertForSequenceClassification(config).save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return make_folder(tmp_path_factory.mktemp("bert"))


def network(folder: str, more: str = "") -> str:
    return f"transformer[path={folder!r},length=16{more}]"


def reviews(seed: int = 0) -> tuple[list[str], Votes, np.ndarray]:
    votes, truth = one_coin(tasks=120, classes=2, skill=[0.9, 0.85, 0.8], seed=seed)
    rng = np.random.default_rng(seed)
    kinds = [WORDS[4:7], WORDS[7:]]
    texts = [
        " ".join([*rng.permutation(WORDS[:4])[: rng.integers(1, 5)], rng.choice(kinds[k])])
        for k in truth.tolist()
    ]
    return texts, votes, truth


SETTINGS: dict[str, Any] = {"epochs": 12, "lr": 3e-3, "batch_size": 16, "device": "cpu"}


@pytest.mark.parametrize("method", ["two_stage[targets='shard']", "crowdlayer", "conal", "wdn", "raykar"])
def test_it_learns_from_votes_by_any_method_and_comes_back(folder: str, method: str, tmp_path: Path) -> None:
    texts, votes, truth = reviews()
    new, _, known = reviews(seed=1)
    model = CrowdClassifier(network(folder), method, **SETTINGS).fit(texts, votes)
    assert model.score(new, known) > 0.95
    assert (model.posterior_.argmax(axis=1) == truth).mean() > 0.95
    model.save(tmp_path / "m")
    again = CrowdClassifier.load(tmp_path / "m", device="cpu")
    np.testing.assert_allclose(again.predict_proba(new), model.predict_proba(new), atol=1e-6)


def test_all_its_weights_are_trained_and_the_same_seed_gives_the_same_ones(folder: str) -> None:
    texts, votes, _ = reviews()
    rows = to_rows(texts, CPU, backbone=f"tokens[path={folder!r},length=16]")
    first = make_network(network(folder), rows, 2)
    one, other = (
        CrowdClassifier(network(folder), "two_stage", **{**SETTINGS, "epochs": 1}).fit(texts, votes)
        for _ in range(2)
    )
    was, now = dict(first.named_parameters()), dict(one.method_.net.named_parameters())
    assert was.keys() == now.keys()
    unused = ("position",)  # of places that no text reaches
    assert [n for n in was if torch.equal(was[n], now[n]) and not any(u in n for u in unused)] == []
    np.testing.assert_array_equal(one.predict_proba(texts), other.predict_proba(texts))


def test_tokens_are_filled_up_and_what_fills_them_changes_nothing(folder: str) -> None:
    rows = to_rows(["the film", "good " * 50, ""], CPU, backbone=f"tokens[path={folder!r},length=8]")
    x = rows.take(torch.arange(3), train=False)
    assert x.tolist() == [[2, 6, 4, 3, 0, 0, 0, 0], [2, *[8] * 6, 3], [2, 3, 0, 0, 0, 0, 0, 0]]
    net = make_network(network(folder), rows, 3)
    assert not any(isinstance(part, Standardize) for part in net.modules())
    alone = torch.cat([net(row[None]) for row in x])
    torch.testing.assert_close(net(x), alone)
    wider = torch.nn.functional.pad(x, (0, 8))
    torch.testing.assert_close(net(wider), alone)


def test_many_texts_are_read_in_parts_when_nothing_is_learned(folder: str) -> None:
    texts, _, _ = reviews()
    rows = to_rows(texts * 2, CPU, backbone=f"tokens[path={folder!r},length=16]")
    net, x = make_network(network(folder), rows, 2), rows.take(torch.arange(240), train=False)
    whole = net(x)
    found = find_last_linear(net, 2)
    assert found is not None
    with torch.no_grad():
        parts, features = forward_with_features(net, found[1], x)
    torch.testing.assert_close(parts, whole)
    torch.testing.assert_close(found[1](features), whole)


def test_random_weights_may_be_asked_for_and_mixed_precision_is_fine(folder: str) -> None:
    texts, votes, truth = reviews()
    again = CrowdClassifier(network(folder, ",pretrained=False"), "two_stage", precision="mixed", **SETTINGS)
    assert again.fit(texts, votes).score(texts, truth) > 0.9


def test_networks_of_all_kinds_can_be_tuned_together(folder: str) -> None:
    texts, votes, _ = reviews()
    new, _, known = reviews(seed=1)
    grid = {"network": [network(folder), "linear"]}
    model = CrowdClassifier(method="two_stage", **{**SETTINGS, "epochs": 3})
    _, tried = tune(model, grid, texts, votes, (new, known))
    assert len(tried) == 2


def test_a_model_whose_folder_has_moved_is_loaded_from_the_new_path(folder: str, tmp_path: Path) -> None:
    texts, votes, _ = reviews()
    old = make_folder(tmp_path / "old")
    model = CrowdClassifier(network(old), "two_stage", **{**SETTINGS, "epochs": 1}).fit(texts, votes)
    said = model.predict_proba(texts)
    model.save(tmp_path / "m")
    Path(old).rename(tmp_path / "new")
    with pytest.raises(ValueError, match="holds no model of transformers"):
        CrowdClassifier.load(tmp_path / "m", device="cpu")
    again = CrowdClassifier.load(tmp_path / "m", network=network(str(tmp_path / "new")), device="cpu")
    np.testing.assert_allclose(again.predict_proba(texts), said, atol=1e-6)


def test_mistakes_are_explained(folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts, votes, _ = reviews()

    def fit(network: str, X: Any = texts, **settings: Any) -> Any:
        return CrowdClassifier(network, "two_stage", epochs=1, device="cpu", **settings).fit(X, votes)

    with pytest.raises(ValueError, match=r"transformer needs the folder of a model: transformer\[path="):
        fit("transformer")
    with pytest.raises(ValueError, match=r"'.*nothing' holds no model of transformers \(.*\); download=True"):
        fit(f"transformer[path='{tmp_path / 'nothing'}']")
    with pytest.raises(ValueError, match="a transformer reads texts, and X is not a list of texts"):
        fit(network(folder), np.eye(120))
    with pytest.raises(ValueError, match="a transformer reads texts itself; leave the backbone out"):
        fit(network(folder), backbone="tfidf")
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(ValueError, match=r'transformer needs transformers: pip install "crowdpilot\[text\]"'):
        fit(network(folder))


def test_neither_a_folder_nor_a_name_is_looked_for_on_the_network(
    folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[Any] = []

    def refuse(*args: Any) -> None:
        calls.append(args)
        raise OSError("there is no network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    with pytest.raises(ValueError, match="'some-one/some-model' holds no model of transformers"):
        to_rows(["a", "b"], CPU, backbone="tokens[path='some-one/some-model']")
    texts, votes, _ = reviews()
    CrowdClassifier(network(folder), "two_stage", **{**SETTINGS, "epochs": 1}).fit(texts, votes)
    assert calls == []
