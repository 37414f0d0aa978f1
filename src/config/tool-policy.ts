import { isAllowed, matchesName, matchesWild, type PacksPolicy } from "./packs-policy.ts";

/** A subprocess server of a pack. All names are qualified. */
export interface PackServer {
  pack: string;
  server: string;
  /** Every item of the pack. A pattern with the name of an item means the item and no tool. */
  items: ReadonlySet<string>;
}

/** Whether any of the patterns may name tools of a server, which are known only after it has started. */
export const mayNameTools = (patterns: readonly string[], { pack, items }: PackServer): boolean =>
  patterns.some((written) => {
    const name = written.replace(/^@/, "");
    const end = name.lastIndexOf("/");
    const owner = name.slice(0, Math.max(0, end));
    return matchesName(owner, pack) && (name.includes("*") || !items.has(name));
  });

/** Whether the policy needs a subprocess server only because `allow` may name tools of it. */
export const isNeededForTools = (policy: PacksPolicy, server: PackServer, isTransitive: boolean): boolean =>
  policy.allow !== undefined &&
  mayNameTools(policy.allow, server) &&
  isAllowed({ ...policy, allow: undefined }, [server.pack, server.server], isTransitive);

/** Whether the policy allows a tool of a subprocess server that is used. `tool` is the server's own name for it. */
export function isToolAllowed(
  policy: PacksPolicy,
  { pack, server, items }: PackServer,
  tool: string,
): boolean {
  const name = `${pack}/${tool}`;
  return isAllowed(policy, items.has(name) ? [pack, server] : [pack, server, name]);
}

/** Takes the name that the server gives the tool. */
export const isToolChosen = (
  { allow, deny }: { allow?: readonly string[] | undefined; deny: readonly string[] },
  name: string,
): boolean => !matchesToolName(deny, name) && (allow === undefined || matchesToolName(allow, name));

/** Whether a tool's own name, which may contain slashes, matches any of the patterns. */
export const matchesToolName = (patterns: readonly string[], name: string): boolean =>
  patterns.some((pattern) => matchesWild(pattern, name));
