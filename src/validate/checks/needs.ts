import { type Check, findInItem } from "../finding.ts";

/** Checks that `needs.env`, if it is declared, has every variable that servers take from the host's environment. */
export const checkNeededVariables: Check = function* ({ inspected }) {
  const { needs } = inspected.extension;
  if (needs?.env === undefined) return;
  const declared = new Set(needs.env);
  for (const item of inspected.items) {
    const names = item.shape === "subprocessServer" ? item.definition?.envPassthrough : undefined;
    for (const [index, name] of Array.isArray(names) ? names.entries() : []) {
      if (typeof name !== "string" || declared.has(name)) continue;
      yield findInItem(item, "NeedsExceeded", { name }, ["envPassthrough", index]);
    }
  }
};
