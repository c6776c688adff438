"""The last layer of any network."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from crowdpilot.learning.layers import find_last_linear, forward_with_features


def test_the_last_linear_layer_of_the_right_size_is_found() -> None:
    net = nn.Sequential(nn.Linear(4, 3), nn.Sequential(nn.Linear(3, 3), nn.LogSoftmax(-1)), nn.Dropout())
    found = find_last_linear(net, 3)
    assert found is not None
    assert found[0] == "1.0"
    assert found[1] is net.get_submodule("1.0")


def test_a_network_may_be_its_last_layer() -> None:
    net = nn.Linear(4, 3)
    assert find_last_linear(net, 3) == ("", net)


def test_there_may_be_none() -> None:
    assert find_last_linear(nn.Sequential(nn.Linear(4, 5), nn.Conv1d(5, 3, 1)), 3) is None


def test_the_input_of_a_layer_is_returned_and_the_network_not_changed() -> None:
    net = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3))
    x = torch.randn(7, 4)
    logits, features = forward_with_features(net, net[2], x)
    torch.testing.assert_close(logits, net(x))
    torch.testing.assert_close(features, net[:2](x))
    assert not net[2]._forward_pre_hooks


def test_a_layer_that_is_applied_to_each_token_has_no_features_of_the_whole() -> None:
    class PerToken(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.score = nn.Linear(4, 3)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.score(x)[:, -1]

    net = PerToken()
    with pytest.raises(ValueError, match="the last layer of the network is applied to each token alone"):
        forward_with_features(net, net.score, torch.zeros(2, 5, 4))
