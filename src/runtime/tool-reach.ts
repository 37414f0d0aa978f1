import satisfies from "semver/functions/satisfies.js";
import { matchesAny } from "../config/packs-policy.ts";
import type { SessionPacksPolicy } from "../config/session-config.ts";
import type { DiscoveredPack } from "../discovery/types.ts";
import { createProblem, type Problem, quote } from "../problems/index.ts";
import { isQualifiedName, parseQualifiedName } from "../qualified-names/index.ts";

/** A tool that the code of a pack calls. */
export interface CalledTool {
  /** npm name of the pack that provides it; `undefined` for a built-in, or a tool of a server of the config. */
  pack: string | undefined;
  version: string | null | undefined;
  /** The names that `needs.tools` can have for it, the one to show first. */
  names: readonly [string, ...string[]];
}

/** Whether a name in `needs.tools` with a version range means the tool. */
function matchesRange(reference: string, { names, version }: CalledTool): boolean {
  if (!reference.includes("@", 1) || !isQualifiedName(reference)) return false;
  const { publisher, pack, item, range = "*" } = parseQualifiedName(reference);
  const name = `${publisher === undefined ? "" : `${publisher}/`}${pack}/${item}`;
  return names.includes(name) && typeof version === "string" && satisfies(version, range);
}

/** What the code of packs may call: its own tools, what its definitions refer to, and `needs.tools`. */
export class ToolReach {
  readonly #report: (problem: Problem) => void;
  readonly #reported = new Set<string>();

  /** `report` gets one problem for each pack that does not declare its tools and calls others. */
  constructor(report: (problem: Problem) => void) {
    this.#report = report;
  }

  /**
   * The reason why the code of a pack may not call a tool; `undefined` if it may. `findReferred` returns the names of the
   * tools and bundles that the definitions of the pack refer to.
   */
  async explainRefusal(
    { name, needs }: DiscoveredPack,
    called: CalledTool,
    { callbacks }: Pick<SessionPacksPolicy, "callbacks">,
    findReferred: () => Promise<ReadonlySet<string>>,
  ): Promise<string | undefined> {
    if (called.pack === name) return undefined;
    const [tool] = called.names;
    const start = `${name} may not call ${quote(tool, 200)}`;
    const declared = needs?.tools;
    if (declared === undefined) {
      if (callbacks === "declared")
        return `${start}: its package.json has no \`needs.tools\`, and the config has \`packs.callbacks: declared\`.`;
      if (!this.#reported.has(name)) {
        this.#reported.add(name);
        const place = { pack: name, file: "package.json" };
        this.#report(createProblem("NeedsUndeclared", { name, tool }, place));
      }
      return undefined;
    }
    if (matchesAny(declared, called.names)) return undefined;
    if (declared.some((reference) => matchesRange(reference, called))) return undefined;
    if (called.pack !== undefined) {
      const referred = await findReferred();
      if (called.names.some((one) => referred.has(one))) return undefined;
    }
    return `${start}: \`needs.tools\` in its package.json does not list it.`;
  }
}
