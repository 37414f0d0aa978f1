import { isRecord } from "../../data/parse-json.ts";

/** The conditions by which Node reads `imports` and `exports` of package.json. */
const conditionsOf = {
  esm: new Set(["node", "import", "node-addons", "module-sync", "default"]),
  commonjs: new Set(["node", "require", "node-addons", "module-sync", "default"]),
};

/** The key that matches a name: the exact one, else the pattern with the longest prefix. `star` is what `*` matches. */
function findKey(
  entries: Readonly<Record<string, unknown>>,
  name: string,
): { key: string; star: string } | undefined {
  if (Object.hasOwn(entries, name) && !name.includes("*")) return { key: name, star: "" };
  let found: { key: string; star: string } | undefined;
  for (const key of Object.keys(entries)) {
    const [start = "", end, ...others] = key.split("*");
    if (end === undefined || others.length > 0 || (found?.key.indexOf("*") ?? -1) >= start.length) continue;
    const fits = name.startsWith(start) && name.endsWith(end) && name.length > start.length + end.length;
    if (fits) found = { key, star: name.slice(start.length, name.length - end.length) };
  }
  return found;
}

/** Like Node: `null` excludes the name, so later conditions have no effect; `undefined` if no condition matches. */
function chooseTarget(target: unknown, conditions: ReadonlySet<string>): string | null | undefined {
  if (typeof target === "string" || target === null) return target;
  if (Array.isArray(target)) {
    const chosen = target.map((one) => chooseTarget(one, conditions));
    return chosen.find((one) => typeof one === "string") ?? chosen.findLast((one) => one !== undefined);
  }
  if (isRecord(target)) {
    for (const [condition, one] of Object.entries(target)) {
      const chosen = conditions.has(condition) ? chooseTarget(one, conditions) : undefined;
      if (chosen !== undefined) return chosen;
    }
  }
  return undefined;
}

/** The value of `exports` by subpath: the short form is for the package as a whole. */
export function expandExports(exports: unknown): unknown {
  const isExpanded = isRecord(exports) && Object.keys(exports).some((key) => key.startsWith("."));
  return isExpanded ? exports : { ".": exports };
}

/**
 * Resolves a name by the `imports` or `exports` of package.json: to `./file`, or to the name of a package. `undefined` if
 * nothing matches.
 */
export function resolvePackageTarget(
  entries: unknown,
  name: string,
  kind: keyof typeof conditionsOf,
): string | undefined {
  if (!isRecord(entries)) return undefined;
  const found = findKey(entries, name);
  if (found === undefined) return undefined;
  return chooseTarget(entries[found.key], conditionsOf[kind])?.replaceAll("*", () => found.star);
}
