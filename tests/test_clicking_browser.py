"""Pictures that are clicked: a corner of the triangle sets three sliders, a row of the matrix opens its strategy, a word its neighbours."""

from __future__ import annotations

import re

import pytest
from conftest import LONG, Visit
from playwright.sync_api import expect
from test_browser import click_on
from test_frame_browser import rested

pytestmark = pytest.mark.browser


@LONG
def test_a_corner_of_the_triangle_is_one_layer_alone_and_the_sliders_follow(visit: Visit) -> None:
    page = visit("/elmo?part=mix-by-hand", height=1500)
    triangle = page.locator(".js-plotly-plot", has=page.locator(".gtitle", has_text="Your mix in the triangle"))
    click_on(page, triangle, ".scatterlayer .trace:nth-child(1) .point", 0)
    for layer, value in enumerate((0, 0, 20)):
        expect(page.get_by_role("slider", name=f"Weight of layer {layer}")).to_have_value(str(value))
    expect(page.locator(".gtitle", has_text="Mix the layers by hand")).to_be_visible()


@LONG
def test_a_row_of_the_matrix_and_a_link_beside_it_open_their_strategy(visit: Visit) -> None:
    page = visit("/corruption?part=every-strategy", height=1500)
    matrix = page.locator(".js-plotly-plot", has=page.locator(".gtitle", has_text="One text under every strategy"))
    row = matrix.locator(".ytick", has_text=re.compile("^bart-delete$"))
    expect(row).to_be_visible()
    name, area = row.bounding_box(), matrix.locator(".nsewdrag").first.bounding_box()
    assert name is not None and area is not None
    page.mouse.move(area["x"] + area["width"] * 0.7, name["y"] + name["height"] / 2)
    page.wait_for_timeout(300)
    page.mouse.click(area["x"] + area["width"] * 0.7, name["y"] + name["height"] / 2)
    expect(page).to_have_url(re.compile("part=one-strategy"))
    rested(page)
    expect(page.get_by_text("BART's second noise.")).to_be_visible()
    page.get_by_role("radio", name="Every strategy").or_(page.get_by_role("button", name="Every strategy")).last.click()
    page.get_by_role("link", name="pegasus", exact=True).click()
    expect(page).to_have_url(re.compile("strategy=pegasus"))
    expect(page.get_by_text("PEGASUS.").first).to_be_visible()


@LONG
def test_a_dot_of_the_plane_opens_the_neighbours_of_its_word(visit: Visit) -> None:
    page = visit("/vectors?part=plane", height=1500)
    plane = page.locator(".js-plotly-plot", has=page.locator(".gtitle", has_text="Words on a plane"))
    expect(plane.locator(".scatterlayer .point").first).to_be_attached()
    rested(page)
    word = plane.evaluate("plot => plot.data[1].customdata[2]")
    click_on(page, plane, ".scatterlayer .point", 2)
    expect(page).to_have_url(re.compile("part=neighbours"))
    expect(page.get_by_role("textbox", name="Word", exact=True)).to_have_value(word)
