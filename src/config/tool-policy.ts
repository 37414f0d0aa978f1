import {
  matchesAny,
  matchesSegment,
  type PacksPolicy,
  PatternList,
  parseWildSegment,
  type SelectionOptions,
} from "./packs-policy.ts";

/** A subprocess server of a pack. All names are qualified. */
export interface PackServer {
  pack: string;
  server: string;
  /** Every item of the pack. A pattern with the name of an item means the item and no tool. */
  items: ReadonlySet<string>;
}

interface ToolPattern {
  packs: PatternList;
  /** Without `@`. */
  name: string;
}

const knownToolPatterns = new WeakMap<readonly string[], ToolPattern[]>();

/** The patterns that have a segment after the pack's, which may name tools. */
function toolPatternsOf(patterns: readonly string[]): ToolPattern[] {
  let list = knownToolPatterns.get(patterns);
  if (list === undefined) {
    list = patterns.flatMap((pattern) => {
      const name = pattern.replace(/^@/, "");
      const end = name.lastIndexOf("/");
      return end < 0 ? [] : [{ name, packs: new PatternList([name.slice(0, end)]) }];
    });
    knownToolPatterns.set(patterns, list);
  }
  return list;
}

/**
 * Whether the policy needs a subprocess server only because `allow` may name tools of it. Which tools it has is known
 * only after it has started.
 */
export function isNeededForTools(
  { allow, deny, transitive }: PacksPolicy,
  { pack, server, items }: PackServer,
  { isTransitive }: SelectionOptions,
): boolean {
  if (allow === undefined || matchesAny(deny, [pack, server])) return false;
  if (isTransitive && !matchesAny(transitive, [pack, server])) return false;
  return toolPatternsOf(allow).some(
    ({ packs, name }) => packs.matches(pack) && (name.includes("*") || !items.has(name)),
  );
}

/** Whether the policy allows a tool of a subprocess server. `tool` is the server's own name for it. */
export function isToolAllowed(
  { allow, deny }: PacksPolicy,
  { pack, server, items }: PackServer,
  tool: string,
): boolean {
  const name = `${pack}/${tool}`;
  const names = items.has(name) ? [] : [name];
  return !matchesAny(deny, names) && (allow === undefined || matchesAny(allow, [pack, server, ...names]));
}

/** Whether the policy may deny tools of a subprocess server, which it allows. */
export const mayDenyTools = ({ deny }: PacksPolicy, { pack, items }: PackServer): boolean =>
  toolPatternsOf(deny).some(
    ({ packs, name }) => packs.matches(pack) && (name.includes("*") || !items.has(name)),
  );

/** Whether `tools` of a server in the config chooses a tool by its own name. */
export const isToolChosen = (
  { allow, deny }: { allow: readonly string[] | undefined; deny: readonly string[] },
  name: string,
): boolean => !matchesToolName(deny, name) && (allow === undefined || matchesToolName(allow, name));

/** Whether a tool's own name, which may contain slashes, matches any of the patterns; `*` matches any characters. */
export function matchesToolName(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => matchesSegment(parseWildSegment(pattern), name));
}
