"""The page around an HTML export. `[[name]]` is filled in by `gradviz.export.html`."""

PAGE = """<!DOCTYPE html>
<html lang="[[language]]">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>[[title]]</title>
<style>
body{margin:0;background:[[paper]];color:[[ink]];font:14px sans-serif}
main{overflow:auto;text-align:center}
#picture{max-width:100%;height:auto}
nav{position:sticky;bottom:0;display:flex;gap:8px;align-items:center;padding:10px 16px;background:[[paper]];
border-top:1px solid [[line]]}
button{font:inherit;color:inherit;background:none;border:1px solid [[line]];border-radius:6px;padding:6px 12px;
cursor:pointer}
button:focus-visible,input:focus-visible{outline:2px solid [[accent]]}
input{flex:1;accent-color:[[accent]]}
output{min-width:5em;text-align:right}
</style>
</head>
<body>
<main>[[svg]]</main>
<nav>
<button id="back" aria-label="[[back]]">◀</button>
<button id="play" data-play="[[play]]" data-pause="[[pause]]">[[play]]</button>
<button id="forward" aria-label="[[forward]]">▶</button>
<input id="position" type="range" min="0" value="0" aria-label="[[position]]">
<output id="number"></output>
</nav>
<noscript>[[old]]</noscript>
<script id="story" type="application/octet-stream">[[data]]</script>
<script>
"use strict";
(async () => {
  const at = id => document.getElementById(id);
  if (!window.DecompressionStream) { at("number").textContent = "[[old]]"; return; }
  const bytes = Uint8Array.from(atob(at("story").textContent), c => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const story = JSON.parse(await new Response(stream).text());
  const groups = story.ids.map(id => at(id));
  const shown = new Array(story.ids.length).fill(-1);
  const stops = story.views.flatMap((view, index) => view[1] < 0 ? [] : [index]);
  let now = 0, timer = null;
  // What every group holds at a view: the last change up to it.
  const state = index => {
    const found = new Array(story.ids.length).fill(0);
    for (let k = 0; k <= index; k++) {
      const step = story.steps[k];
      for (let i = 0; i < step.length; i += 2) found[step[i]] = step[i + 1];
    }
    return found;
  };
  const put = (place, markup) => {
    if (shown[place] === markup) return;
    shown[place] = markup;
    const text = story.pools[place][markup], cut = text.indexOf("\\n");
    groups[place].setAttribute("class", text.slice(0, Math.max(cut, 0)));
    const image = (_, k) => `href="${story.images[k]}"`;
    groups[place].innerHTML = text.slice(cut + 1).replace(/href="#(\\d+)"/g, image);
  };
  const show = index => {
    if (index === now + 1) {
      const step = story.steps[index];
      for (let i = 0; i < step.length; i += 2) put(step[i], step[i + 1]);
    } else state(index).forEach((markup, place) => put(place, markup));
    now = index;
    const stop = stops.filter(k => k <= now).length - 1;
    at("position").value = Math.max(stop, 0);
    at("number").textContent = Math.max(stop, 0) + 1 + " / " + stops.length;
  };
  const pause = () => { clearTimeout(timer); timer = null; at("play").textContent = at("play").dataset.play; };
  const tick = () => {
    if (now + 1 >= story.views.length) { pause(); return; }
    timer = setTimeout(() => { show(now + 1); tick(); }, story.views[now][0]);
  };
  const play = () => {
    if (now + 1 >= story.views.length) show(0);
    at("play").textContent = at("play").dataset.pause;
    tick();
  };
  const step = by => {
    pause();
    const next = by > 0 ? stops.find(k => k > now) : stops.filter(k => k < now).pop();
    if (next !== undefined) show(next);
  };
  at("play").onclick = () => timer === null ? play() : pause();
  at("back").onclick = () => step(-1);
  at("forward").onclick = () => step(1);
  at("position").max = stops.length - 1;
  at("position").oninput = event => { pause(); show(stops[event.target.valueAsNumber]); };
  document.onkeydown = event => {
    if (event.target.tagName === "INPUT") return;
    if (event.key === "ArrowRight") step(1);
    else if (event.key === "ArrowLeft") step(-1);
    else if (event.key === " " && event.target.tagName !== "BUTTON") { event.preventDefault(); at("play").click(); }
  };
  now = -2;
  show(stops[0]);
  document.body.dataset.ready = "yes";
})();
</script>
</body>
</html>
"""
