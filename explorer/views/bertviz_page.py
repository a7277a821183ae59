"""The page in which BertViz's scripts run: its look, what hands them their libraries, and what hands them their numbers."""

from explorer.views.export import BODY, HEAD

# BertViz asks RequireJS for d3 5 and jQuery. The d3 that is installed is version 3, which has the same things under older names.
LOADER = """
const tens = d3.scale.category10().range();
window.bertviz_mode = mode => { d3.schemeCategory10 = mode === "dark" ? tens.map(one => d3.rgb(one).brighter(1.3).toString()) : tens; };
d3.scaleOrdinal = colours => d3.scale.ordinal().range(colours);
d3.line = d3.svg.line;
window.require = { config() {} };
window.requirejs = (names, draw) => { window.bertviz_draw = () => draw(jQuery, d3); };
"""

PAGE = (
    """<!doctype html>
<html lang="en" data-mode="@MODE@">
<head>
"""
    + HEAD
    + """:root { color-scheme: light; --paper: @PAPERLIGHT@; --ink: @INKLIGHT@; --shade: @SHADELIGHT@; }
:root[data-mode="dark"] { color-scheme: dark; --paper: @PAPERDARK@; --ink: @INKDARK@; --shade: @SHADEDARK@; }
"""
    + BODY
    + """label { margin-right: 1rem; } select { font: inherit; }
#bertviz { overflow-x: auto; padding: 0 !important; } #vis { margin-top: .6rem; }
#vis svg { overflow: visible; } #vis text { fill: var(--ink); } #vis .background { fill: var(--shade); }
</style>
</head>
<body>
<label id="which" hidden>Attention: <select id="choice"></select></label>
<div id="bertviz" role="group" aria-label="@TITLE@"></div>
@CAPTION@
<template id="controls">@CONTROLS@<div id="vis"></div></template>
<script type="text/plain" id="held">@DATA@</script>
<script type="text/plain" id="packed">@SCRIPTS@</script>
<script>
(async () => {
  const found = id => document.getElementById(id), root = document.documentElement, asked = root.dataset.mode;
  @UNPACK@
  const held = await (await unpacked("held")).json(), reader = matchMedia("(prefers-color-scheme: dark)");
  for (const code of await (await unpacked("packed")).json()) {
    const script = document.createElement("script");
    script.textContent = code;
    document.head.append(script);
  }
  const part = n => n / 1000, vector = numbers => numbers.map(part);
  const params = (choice, layer, head) => {
    const s = held.streams[choice.stream], rows = all => all.slice(...choice.rows), columns = all => all.slice(...choice.columns);
    const data = { name: choice.name, left_text: rows(s.left), right_text: columns(s.right),
      attn: s.attn.map(heads => heads.map(head => rows(head).map(row => columns(row).map(part)))) };
    if (s.queries) {
      data.queries = s.queries.map(heads => heads.map(head => rows(head).map(vector)));
      data.keys = s.keys.map(heads => heads.map(head => columns(head).map(vector)))
        .map(heads => s.heads.map(n => heads[Math.floor(n * heads.length / s.heads.length)]));  // shared keys, to each of their heads
    }
    const at = s.layers.indexOf(layer);
    return { attention: [data], default_filter: "0", root_div_id: "bertviz", display_mode: root.dataset.mode, heads: null,
      layer: at < 0 ? null : held.view === "neuron" ? at : layer, head: head < s.heads.length ? head : null,
      include_layers: s.layers, include_heads: s.heads, total_heads: s.heads.length, scales: s.scales,
      bidirectional: !(s.causal && data.left_text.length === data.right_text.length) };
  };
  const chosen = id => { const select = found(id); return select ? +select.selectedOptions[0].textContent : -1; };
  const draw = () => {
    root.dataset.mode = asked || (reader.matches ? "dark" : "light");
    const choice = held.choices[found("choice").value], layer = chosen("layer"), head = chosen("att_head");
    found("bertviz").replaceChildren(found("controls").content.cloneNode(true));
    window.bertviz_params = params(choice, layer, head < 0 ? Infinity : head);
    window.bertviz_mode(root.dataset.mode);
    window.bertviz_draw();
    if (held.view === "neuron")
      found("layer").querySelectorAll("option").forEach((option, n) => option.textContent = held.streams[choice.stream].layers[n]);
  };
  held.choices.forEach((choice, n) => found("choice").append(new Option(choice.name, n)));
  found("which").hidden = held.choices.length < 2;
  found("choice").addEventListener("change", draw);
  reader.addEventListener("change", draw);
  draw();
  document.body.dataset.drawn = "yes";
})();
</script>
@NOTICES@
</body>
</html>
"""
)
