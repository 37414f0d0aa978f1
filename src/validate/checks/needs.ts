import { quote } from "../../problems/index.ts";
import { isQualifiedName } from "../../qualified-names/index.ts";
import { type Check, findInItem, findInManifest } from "../finding.ts";

/** Checks the names with a version range in `needs.tools`. Reading the field does not parse them: that needs semver. */
export const checkNeededRanges: Check = function* ({ inspected }) {
  const ranged = new Set(inspected.extension.needs?.tools?.filter((name) => name.includes("@", 1)));
  if (ranged.size === 0) return;
  const { needs } = inspected.manifest.value.trailblaze as { needs: { tools: unknown[] } };
  for (const [index, name] of needs.tools.entries()) {
    if (typeof name !== "string" || !ranged.has(name) || isQualifiedName(name)) continue;
    const reason = `${quote(name)} is not the name of a tool with a semver range`;
    const hint = 'Use a name such as "acme/jira@^1.2/createIssue".';
    const path = ["needs", "tools", index];
    yield findInManifest("InvalidNeeds", { reason, hint }, ["trailblaze", ...path], { path });
  }
};

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
