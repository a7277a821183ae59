"""The lesson on heads and layers: all heads, and one of them large beside them."""

from __future__ import annotations

import json

from opening import opened


def test_one_head_is_large_beside_all_with_the_same_row_framed() -> None:
    at = opened("heads", part="all-layers")
    every, large = at.get("plotly_chart")
    assert not at.exception and "layer 3, head 3" in large.proto.alt + large.proto.spec, "the last head at first"
    at.selectbox(key="glance.token").select("dog (2)").run()
    at = at.selectbox(key="glance.head").select("layer 1, head 3").run()
    every, large = at.get("plotly_chart")
    assert not at.exception and "layer 1, head 3" in large.proto.alt + large.proto.spec
    for chart, where in ((every, 2), (large, 2)):
        frame = next(one for one in json.loads(chart.proto.spec)["data"] if one["name"] == "the chosen token")
        assert frame["y"][0] == where - 0.5, "in both the row of the token that is followed"
    at = at.selectbox(key="glance.head").select("no head").run()
    assert len(at.get("plotly_chart")) == 1 and not at.exception
    linked = opened("heads", part="all-layers", glance__head="layer 0, head 2")
    assert linked.selectbox(key="glance.head").value == "layer 0, head 2", "an address names its head"
    at = opened("heads", part="all-layers", model="gpt", glance__head="layer 3, head 3")
    assert at.selectbox(key="glance.head").value == "layer 1, head 3", "a smaller model has no such head: its last one"
