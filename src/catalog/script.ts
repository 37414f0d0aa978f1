/** The script of every page: the theme, search and filters. Without it, all of the content is there. */
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
  const cards = [...document.querySelectorAll("[data-entry]")];
  const groups = [...document.querySelectorAll("[data-group]")];
  const chips = [...finder.querySelectorAll(".chip")];
  const data = document.getElementById("data");
  const items = data ? JSON.parse(data.textContent) : null;
  const noun = finder.dataset.noun.split("|");
  const shown = 8;
  const fold = (text) => text.normalize("NFKD").replace(/\\p{M}/gu, "").toLowerCase();
  const texts = cards.map((card) => fold((card.querySelector("header") || card).textContent));
  const found = items && items.map((list) => list.map(([, name, , text]) => fold(name + " " + (text || ""))));
  finder.hidden = false;

  const list = (card, index, words, kind) => {
    card.querySelector(".matches")?.remove();
    if (!items || (words.length === 0 && kind === "")) return;
    const hits = items[index].filter(([of], at) => (kind === "" || kinds[of] === kind)
      && words.every((word) => found[index][at].includes(word) || texts[index].includes(word))
      && (words.length === 0 || words.some((word) => found[index][at].includes(word))));
    if (hits.length === 0) return;
    const page = card.querySelector("h3 a").getAttribute("href");
    const box = document.createElement("ul");
    box.className = "matches";
    for (const [of, name, id] of hits.slice(0, shown)) {
      const line = document.createElement("li");
      const link = document.createElement("a");
      link.href = page + "#" + (id || kinds[of] + "-" + name);
      const isolated = document.createElement("bdi");
      isolated.textContent = name;
      link.append(isolated);
      line.append(link, " " + kinds[of]);
      box.append(line);
    }
    if (hits.length > shown) {
      const line = document.createElement("li");
      line.textContent = "and " + (hits.length - shown) + " more on its page";
      box.append(line);
    }
    card.append(box);
  };

  const kinds = items ? finder.dataset.kinds.split(" ") : [];
  const apply = () => {
    const words = fold(input.value).split(/\\s+/).filter(Boolean);
    const pressed = chips.filter((chip) => chip.getAttribute("aria-pressed") === "true");
    const kind = pressed.map((chip) => chip.dataset.kind).find(Boolean) || "";
    const onlyProblems = pressed.some((chip) => chip.dataset.problems);
    let count = 0;
    cards.forEach((card, index) => {
      const of = card.dataset.kinds.split(" ");
      const hasWords = (text) => words.every((word) => text.includes(word) || texts[index].includes(word));
      const isHit = (kind === "" || of.includes(kind))
        && (!onlyProblems || card.dataset.problems === "1")
        && (hasWords(texts[index]) || (found !== null && found[index].some((text, at) =>
          (kind === "" || kinds[items[index][at][0]] === kind) && hasWords(text))));
      card.hidden = !isHit;
      if (isHit) count++;
      if (isHit || !items) list(card, index, words, kind);
    });
    for (const group of groups) group.hidden = !group.querySelector("[data-entry]:not([hidden])");
    nothing.hidden = count > 0;
    reset.hidden = words.length === 0 && pressed.length === 0;
    status.textContent = count + " of " + cards.length + " " + (cards.length === 1 ? noun[0] : noun[1]);
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
