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
