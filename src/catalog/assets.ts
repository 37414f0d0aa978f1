/** The style of the page. Its hash is in its Content-Security-Policy. */
export const style = `
:root{color-scheme:light dark;
--bg:light-dark(#fff,#131517);--raised:light-dark(#f7f7f4,#1b1e21);--text:light-dark(#1d1c1a,#e9e7e2);
--soft:light-dark(#5b5954,#a9a69e);--line:light-dark(#c9c6be,#4a5057);--accent:light-dark(#0b5c56,#74d3c8)}
*{box-sizing:border-box}
body{margin:0 auto;max-width:78rem;padding:1rem clamp(1rem,4vw,2.5rem);background:var(--bg);color:var(--text);font:1rem/1.6 system-ui,sans-serif;overflow-wrap:anywhere}
h1,h2,h3{line-height:1.25}
h3,code,pre{font-family:ui-monospace,monospace;font-size:.9em}
p,ul,dl,dd{margin:.25rem 0;padding:0;list-style:none}
a,summary{color:var(--accent)}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
[hidden]{display:none!important}
.text,td{white-space:pre-line;unicode-bidi:plaintext}
.text{max-width:72ch}
.soft{color:var(--soft);font-weight:400}
.finder{display:grid;gap:.5rem;padding:1rem 0}
.finder [role=group],.badges{display:flex;flex-wrap:wrap;gap:.5rem}
input,button{font:inherit;color:var(--text);background:var(--bg);border:1px solid var(--line);border-radius:6px;padding:.375rem .75rem}
button[aria-pressed=true]{background:var(--accent);color:var(--bg)}
.badge{font-size:.75rem;padding:0 .5rem;border-radius:99px;background:var(--raised)}
.cards{display:grid;gap:1rem;grid-template-columns:repeat(auto-fill,minmax(min(100%,21rem),1fr))}
.card{border:1px solid var(--line);border-radius:10px;padding:0 1.25rem 1rem}
.pack,.item{border-top:1px solid var(--line);margin-top:1.5rem}
.item{content-visibility:auto;contain-intrinsic-size:auto 18rem}
.facts{display:grid;grid-template-columns:minmax(6rem,max-content) minmax(0,1fr);gap:0 1.5rem}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;vertical-align:top;padding:.375rem 1rem .375rem 0;border-bottom:1px solid var(--line)}
pre{background:var(--raised);padding:1rem;overflow:auto;max-height:32rem;white-space:pre-wrap}
.problem{border-left:3px solid var(--line);background:var(--raised);margin-top:.75rem;padding:.5rem 1rem}
@media(max-width:40rem){
thead{position:absolute;clip-path:inset(50%)}
tr,td{display:block}
}
`;

/** The script of the page: search and filters. Without it, all of the content is there. */
export const script = `"use strict";
(() => {
  const find = (id) => document.getElementById(id);
  const finder = find("finder");
  if (!finder) return;
  const input = find("search");
  const chips = [...finder.querySelectorAll("button")];
  const describe = (element) => ({ element, kind: element.dataset.kind, hasProblems: element.dataset.problems === "1",
    text: element.firstElementChild.textContent.toLowerCase() });
  const cards = document.querySelectorAll(".card");
  // Cards and sections are in the same order.
  const packs = [...document.querySelectorAll(".pack")].map((section, index) => ({ ...describe(section), card: cards[index],
    items: [...section.querySelectorAll(".item")].map(describe) }));
  finder.hidden = false;

  const apply = () => {
    const words = input.value.toLowerCase().split(/\\s+/).filter(Boolean);
    const pressed = chips.filter((chip) => chip.getAttribute("aria-pressed") === "true");
    const kinds = pressed.flatMap((chip) => chip.dataset.kind ?? []);
    const onlyProblems = pressed.some((chip) => chip.dataset.problems);
    const isHit = (one, text) => (kinds.length === 0 || kinds.includes(one.kind)) && (!onlyProblems || one.hasProblems)
      && words.every((word) => text.includes(word));
    let shownPacks = 0;
    let shownItems = 0;
    for (const pack of packs) {
      const hits = pack.items.filter((item) => isHit(item, item.text + " " + pack.text));
      for (const item of pack.items) item.element.hidden = !hits.includes(item);
      const isShown = hits.length > 0 || isHit(pack, pack.text);
      pack.element.hidden = pack.card.hidden = !isShown;
      shownPacks += Number(isShown);
      shownItems += hits.length;
    }
    find("nothing").hidden = shownPacks > 0;
    find("status").textContent = "Packs: " + shownPacks + " of " + packs.length + ", items: " + shownItems;
  };
  for (const chip of chips) chip.addEventListener("click", () => {
    chip.setAttribute("aria-pressed", String(chip.getAttribute("aria-pressed") !== "true"));
    apply();
  });
  input.addEventListener("input", apply);
  // The browser may have kept the text of an earlier visit.
  apply();
})();
`;
