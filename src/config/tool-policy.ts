import { matchesAny, matchesName, matchesWild, type PacksPolicy } from "./packs-policy.ts";

/** A subprocess server of a pack. All names are qualified. */
export interface PackServer {
  pack: string;
  server: string;
  /** Every item of the pack. A pattern with the name of an item means the item and no tool. */
  items: ReadonlySet<string>;
}

/** Whether any of the patterns may name tools of a server, which are known only after it has started. */
const mayNameTools = (patterns: readonly string[], { pack, items }: PackServer): boolean =>
  patterns.some((written) => {
    const name = written.replace(/^@/, "");
    const end = name.lastIndexOf("/");
    const owner = name.slice(0, Math.max(0, end));
    return matchesName(owner, pack) && (name.includes("*") || !items.has(name));
  });

/** Whether the policy needs a subprocess server only because `allow` may name tools of it. */
export function isNeededForTools(
  { allow, deny, transitive }: PacksPolicy,
  server: PackServer,
  isTransitive: boolean,
): boolean {
  const names = [server.pack, server.server];
  if (allow === undefined || matchesAny(deny, names)) return false;
  return (!isTransitive || matchesAny(transitive, names)) && mayNameTools(allow, server);
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
export const mayDenyTools = ({ deny }: PacksPolicy, server: PackServer): boolean =>
  mayNameTools(deny, server);

/** Takes the name that the server gives the tool. */
export const isToolChosen = (
  { allow, deny }: { allow?: readonly string[] | undefined; deny: readonly string[] },
  name: string,
): boolean => !matchesToolName(deny, name) && (allow === undefined || matchesToolName(allow, name));

/** Whether a tool's own name, which may contain slashes, matches any of the patterns. */
export const matchesToolName = (patterns: readonly string[], name: string): boolean =>
  patterns.some((pattern) => matchesWild(pattern, name));
