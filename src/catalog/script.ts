/** The script of the page: the theme, search and filters. Without it, all of the content is there. */
export const script = `"use strict";
(() => {
  const root = document.documentElement;
  const key = "trailblaze-theme";
  const store = { get: () => { try { return localStorage.getItem(key); } catch { return null; } },
    set: (value) => { try { localStorage.setItem(key, value); } catch { /* no storage: only this page */ } } };
  const wanted = store.get();
  if (wanted === "light" || wanted === "dark") root.dataset.theme = wanted;
  const prefersDark = matchMedia("(prefers-color-scheme: dark)");
  const theme = () => root.dataset.theme || (prefersDark.matches ? "dark" : "light");
  const toggle = document.getElementById("theme");
  const label = () => { toggle.textContent = theme() === "dark" ? "Light theme" : "Dark theme"; };
  toggle.hidden = false;
  label();
  prefersDark.addEventListener("change", label);
  toggle.addEventListener("click", () => {
    root.dataset.theme = theme() === "dark" ? "light" : "dark";
    store.set(root.dataset.theme);
    label();
  });

  const finder = document.getElementById("finder");
  if (!finder) return;
  const input = document.getElementById("search");
  const status = document.getElementById("status");
  const nothing = document.getElementById("nothing");
  const reset = document.getElementById("reset");
  const chips = [...finder.querySelectorAll(".chip")];
  const fold = (text) => text.normalize("NFKD").replace(/\\p{M}/gu, "").toLowerCase();
  const cards = document.querySelectorAll(".card");
  // Cards and sections are in the same order.
  const packs = [...document.querySelectorAll(".pack")].map((section, index) => ({
    section, card: cards[index], text: fold(section.firstElementChild.textContent),
    hasProblems: section.dataset.problems === "1",
    items: [...section.querySelectorAll(".item")].map((element) => ({ element, kind: element.dataset.kind,
      hasProblems: element.dataset.problems === "1", text: fold(element.firstElementChild.textContent) })),
  }));
  const itemCount = packs.reduce((sum, { items }) => sum + items.length, 0);
  finder.hidden = false;

  const apply = () => {
    const words = fold(input.value).split(/\\s+/).filter(Boolean);
    const pressed = chips.filter((chip) => chip.getAttribute("aria-pressed") === "true");
    const kind = pressed.map((chip) => chip.dataset.kind).find(Boolean) || "";
    const onlyProblems = pressed.some((chip) => chip.dataset.problems);
    let packHits = 0;
    let itemHits = 0;
    for (const { section, card, text, hasProblems, items } of packs) {
      let own = 0;
      for (const item of items) {
        const isHit = (kind === "" || item.kind === kind) && (!onlyProblems || item.hasProblems)
          && words.every((word) => item.text.includes(word) || text.includes(word));
        item.element.hidden = !isHit;
        if (isHit) own++;
      }
      const isHit = own > 0
        || (kind === "" && (!onlyProblems || hasProblems) && words.every((word) => text.includes(word)));
      section.hidden = card.hidden = !isHit;
      if (isHit) packHits++;
      itemHits += own;
    }
    nothing.hidden = packHits > 0;
    reset.hidden = words.length === 0 && pressed.length === 0;
    status.textContent = packHits + " of " + packs.length + (packs.length === 1 ? " pack, " : " packs, ")
      + itemHits + " of " + itemCount + (itemCount === 1 ? " item" : " items");
  };
  const change = (chip) => {
    const isOn = chip.getAttribute("aria-pressed") !== "true";
    if (chip.dataset.kind !== undefined)
      for (const other of chips) if (other.dataset.kind !== undefined) other.setAttribute("aria-pressed", "false");
    chip.setAttribute("aria-pressed", String(isOn));
    apply();
  };
  for (const chip of chips) chip.addEventListener("click", () => change(chip));
  input.addEventListener("input", apply);
  reset.addEventListener("click", () => {
    input.value = "";
    for (const chip of chips) chip.setAttribute("aria-pressed", "false");
    apply();
    input.focus();
  });
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target instanceof HTMLElement && /^(?:input|textarea|select)$/i.test(event.target.tagName);
    if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      input.focus();
    } else if (event.key === "Escape" && event.target === input && input.value !== "") {
      input.value = "";
      apply();
    }
  });
  // The browser may have kept the text of an earlier visit.
  apply();
})();
`;
