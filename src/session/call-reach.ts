import type { Problem } from "../problems/index.ts";
import type { CalledTool, ToolReach } from "../runtime/tool-reach.ts";
import type { SessionState } from "./session-state.ts";
import type { ToolCandidate } from "./session-tool.ts";

/** The names are those of the config's `packs`; a built-in's is its own, and so is that of a tool of a user's server. */
function describeCalled({ tool, bundle, route }: ToolCandidate): CalledTool {
  const { source, qualifiedName, name } = tool;
  const { pack, version, server } = source;
  if (pack === undefined) {
    const label = route.by === "server" ? [`${server}/${route.advertisedName}`] : [];
    return { pack, version, names: [qualifiedName ?? name, ...label] };
  }
  if (route.by === "server") {
    const { plan, advertisedName } = route;
    return { pack, version, names: [`${plan.pack}/${advertisedName}`, plan.label] };
  }
  return { pack, version, names: [bundle ?? qualifiedName ?? name] };
}

/** The qualified name of the pack whose code runs for a tool. For an entry of a bundle, it may be another pack's. */
const packOfCode = ({ route }: ToolCandidate): string | undefined =>
  route.by === "server" ? route.plan.pack : route.code.owner.pack?.qualifiedName;

/** What the code of packs may call in a session. */
export class CallReach {
  readonly #report: (problem: Problem) => void;
  #reach: Promise<ToolReach> | undefined;

  constructor(report: (problem: Problem) => void) {
    this.#report = report;
  }

  /** The reason why the code of a tool may not call another; `undefined` if it may. */
  explainRefusal(state: SessionState, caller: ToolCandidate, called: ToolCandidate) {
    return this.explainRefusalFor(state, packOfCode(caller), called);
  }

  /** The same, for the qualified name of a pack; `undefined` for the host's code. */
  async explainRefusalFor(
    state: SessionState,
    caller: string | undefined,
    called: ToolCandidate,
  ): Promise<string | undefined> {
    if (caller === undefined) return undefined;
    const found = state.packs.find(({ inspected }) => inspected.pack.qualifiedName === caller);
    if (found === undefined) throw new Error(`The state has no pack ${caller}.`);
    const { pack } = found.inspected;
    const { packs } = state.config;
    this.#reach ??= import("../runtime/tool-reach.ts").then((module) => new module.ToolReach(this.#report));
    const reach = await this.#reach;
    return reach.explainRefusal(pack, describeCalled(called), packs, () => state.findReferred(found));
  }
}
