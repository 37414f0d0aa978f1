/** The style of the page. Its hash is in its Content-Security-Policy. */
export const style = `
:root{color-scheme:light dark;
--bg:light-dark(#fff,#131517);--raised:light-dark(#f7f7f4,#1b1e21);--text:light-dark(#1d1c1a,#e9e7e2);
--soft:light-dark(#5b5954,#a9a69e);--line:light-dark(#e2e0da,#31353a);--strong:light-dark(#c9c6be,#4a5057);
--accent:light-dark(#0b5c56,#74d3c8);--wash:light-dark(#e6f1ef,#16312f);
--error:light-dark(#a3211a,#ff9d94);--error-wash:light-dark(#fbeae8,#3a1b19);
--warning:light-dark(#7a4b00,#f2c063);--warning-wash:light-dark(#fbf1dd,#33270f);
--good:light-dark(#1f6133,#8fd6a3);--good-wash:light-dark(#e6f3e9,#16301e);
--mono:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
*{box-sizing:border-box}
body{margin:0 auto;max-width:78rem;padding:0 clamp(1rem,4vw,2.5rem);background:var(--bg);color:var(--text);font:1rem/1.6 system-ui,sans-serif;overflow-wrap:anywhere}
h1,h2,h3,h4{line-height:1.25;margin:0}
h1{margin-top:2rem}
h3,code,pre,.mono{font-family:var(--mono);font-size:.875em}
h4{font-size:.8125rem;color:var(--soft);margin:1.25rem 0 .375rem}
p,ul,dl,dd{margin:0;padding:0;list-style:none}
a{color:var(--accent)}
h3 a{color:inherit;text-decoration:none}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
[hidden]{display:none!important}
.text{white-space:pre-line;unicode-bidi:plaintext;max-width:72ch;margin-top:.5rem}
.soft,.note,.name,.version,.source .mono{color:var(--soft)}
.note,.name,.version,.source{font-size:.8125rem;font-weight:400}
.skip{position:absolute;left:-100vw;background:var(--bg);padding:.625rem 1rem}
.skip:focus{left:0}
.chip,.finder input{font:inherit;font-size:.875rem;color:var(--text);background:var(--bg);border:1px solid var(--strong);border-radius:6px;padding:.375rem .75rem}
.chip{cursor:pointer}
.chip:hover{border-color:var(--accent)}
.chip[aria-pressed=true]{background:var(--accent);border-color:var(--accent);color:var(--bg)}
.finder{display:grid;gap:.5rem;padding:1.5rem 0 1.25rem}
.names,.badges{display:flex;flex-wrap:wrap;gap:.375rem .875rem}
.badges{gap:.375rem;margin-top:.5rem}
.badge{font-size:.75rem;padding:0 .5rem;border-radius:99px;color:var(--soft);background:var(--raised)}
.badge.error{color:var(--error);background:var(--error-wash)}
.badge.warning{color:var(--warning);background:var(--warning-wash)}
.badge.good{color:var(--good);background:var(--good-wash)}
.badge.accent{color:var(--accent);background:var(--wash)}
.cards{display:grid;gap:1rem;grid-template-columns:repeat(auto-fill,minmax(min(100%,21rem),1fr))}
.card,.empty{border:1px solid var(--line);border-radius:10px;padding:1.125rem 1.25rem}
section{margin:0 0 2.75rem}
.pack{border-top:2px solid var(--strong);padding-top:1.75rem}
.item{border-top:1px solid var(--line);margin-top:1.5rem;padding-top:1.5rem;content-visibility:auto;contain-intrinsic-size:auto 18rem}
.item:target h3{color:var(--accent)}
.facts{display:grid;grid-template-columns:minmax(8rem,max-content) minmax(0,1fr);gap:.375rem 1.5rem;margin-top:.875rem;font-size:.9375rem}
.facts dt{color:var(--soft)}
table{border-collapse:collapse;width:100%;margin-top:.875rem;font-size:.9375rem}
th,td{text-align:left;vertical-align:top;padding:.5rem 1rem .5rem 0;border-bottom:1px solid var(--line)}
th{font-size:.8125rem;color:var(--soft)}
td{white-space:pre-line;unicode-bidi:plaintext}
.source{margin-top:1rem}
.source summary{cursor:pointer;color:var(--accent)}
pre{background:var(--raised);border-radius:6px;padding:.875rem 1rem;overflow:auto;max-height:32rem;white-space:pre-wrap}
.problem{border-left:3px solid var(--strong);background:var(--raised);margin-top:.75rem;padding:.625rem 1rem;font-size:.9375rem}
.problem strong{margin-right:.5rem}
.problem.error{border-color:var(--error)}
.problem.warning{border-color:var(--warning)}
footer{border-top:1px solid var(--line);margin-top:3rem;padding:1.25rem 0 2.5rem;font-size:.875rem;color:var(--soft)}
@media(max-width:40rem){
thead{position:absolute;clip-path:inset(50%)}
tr,td{display:block;border:0;padding:.125rem 0}
tr{border-bottom:1px solid var(--line)}
td:empty{display:none}
.facts{grid-template-columns:minmax(0,1fr)}
}
@media print{:root{color-scheme:light}.finder,.skip{display:none!important}}
`;

/** The script of the page: search and filters. Without it, all of the content is there. */
export const script = `"use strict";
(() => {
  const find = (id) => document.getElementById(id);
  const finder = find("finder");
  if (!finder) return;
  const input = find("search");
  const chips = [...finder.querySelectorAll("[aria-pressed]")];
  const fold = (text) => text.normalize("NFKD").replace(/\\p{M}/gu, "").toLowerCase();
  const describe = (element) => ({ element, kind: element.dataset.kind, hasProblems: element.dataset.problems === "1",
    text: fold(element.firstElementChild.textContent) });
  const cards = document.querySelectorAll(".card");
  // Cards and sections are in the same order.
  const packs = [...document.querySelectorAll(".pack")].map((section, index) => ({ ...describe(section), card: cards[index],
    items: [...section.querySelectorAll(".item")].map(describe) }));
  finder.hidden = false;

  const apply = () => {
    const words = fold(input.value).split(/\\s+/).filter(Boolean);
    const pressed = chips.filter((chip) => chip.getAttribute("aria-pressed") === "true");
    const kind = pressed.map((chip) => chip.dataset.kind).find(Boolean);
    const onlyProblems = pressed.some((chip) => chip.dataset.problems);
    const isHit = (one, text) =>
      (!kind || one.kind === kind) && (!onlyProblems || one.hasProblems) && words.every((word) => text.includes(word));
    const shown = { packs: 0, items: 0, all: 0 };
    for (const pack of packs) {
      const hits = pack.items.filter((item) => isHit(item, item.text + " " + pack.text));
      for (const item of pack.items) item.element.hidden = !hits.includes(item);
      const isShown = hits.length > 0 || isHit(pack, pack.text);
      pack.element.hidden = pack.card.hidden = !isShown;
      shown.packs += Number(isShown);
      shown.items += hits.length;
      shown.all += pack.items.length;
    }
    find("nothing").hidden = shown.packs > 0;
    find("status").textContent = words.length + pressed.length === 0 ? ""
      : shown.packs + " of " + packs.length + " packs, " + shown.items + " of " + shown.all + " items";
  };
  const press = (chip, isOn) => chip.setAttribute("aria-pressed", String(isOn));
  for (const chip of chips) chip.addEventListener("click", () => {
    const isOn = chip.getAttribute("aria-pressed") !== "true";
    // One kind at a time.
    if (chip.dataset.kind) for (const other of chips) if (other.dataset.kind) press(other, false);
    press(chip, isOn);
    apply();
  });
  const clear = () => { input.value = ""; apply(); input.focus(); };
  input.addEventListener("input", apply);
  find("reset").addEventListener("click", () => { for (const chip of chips) press(chip, false); clear(); });
  document.addEventListener("keydown", (event) => {
    const isTyping = /^(?:input|textarea|select)$/i.test(event.target.tagName);
    if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      input.focus();
    } else if (event.key === "Escape" && event.target === input) clear();
  });
  // The browser may have kept the text of an earlier visit.
  apply();
})();
`;
