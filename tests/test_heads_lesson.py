"""The lesson on heads and layers: one of all heads, large."""

from __future__ import annotations

from opening import opened

from explorer.app.lessons.heads import enlarging


def test_a_head_that_is_clicked_is_shown_large_with_the_same_row_and_all_are_one_click_away() -> None:
    at = opened("heads", part="all-layers")
    assert [one.label for one in at.button if one.label == "← All heads"] == []
    at.session_state["glance.token"] = "dog (2)"
    at.session_state["enlarged.token"], at.session_state["enlarged.head"] = "dog (2)", "layer 1, head 3"
    at.query_params[enlarging.KEY] = "1"
    at = at.run()
    (chart,) = at.get("plotly_chart")
    assert not at.exception and "layer 1, head 3" in chart.proto.alt + chart.proto.spec
    assert at.selectbox(key="enlarged.token").value == "dog (2)"
    at = at.button(key="large.close").click().run()
    assert enlarging.KEY not in at.query_params and not at.exception
    assert len(at.selectbox(key="glance.token").options) > 10
