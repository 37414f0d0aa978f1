import type { UserServer } from "../config/session-config.ts";
import type { ServerMember, ServerMembers } from "../inspection/server-contents.ts";
import type { InspectedItem, InspectedPack } from "../inspection/types.ts";
import type { LockGate } from "../lock/lock-gate.ts";
import { type Problem, TrailblazeError } from "../problems/index.ts";

/** Leaves out the members of a server that the lock does not approve. */
export class MemberApproval {
  readonly #gate: LockGate;
  readonly #report: (problem: Problem) => void;
  readonly #refused = new Map<InspectedItem, Problem>();

  constructor(gate: LockGate, report: (problem: Problem) => void) {
    this.#gate = gate;
    this.#report = report;
  }

  /** Throws for a server of the config that may not start. */
  checkServer(server: UserServer): void {
    const { refusal, problems } = this.#gate.checkServer(server);
    this.#gate.refuseDifferences();
    if (refusal !== undefined) throw new TrailblazeError(refusal);
    for (const problem of problems) this.#report(problem);
  }

  /** The same pack with approved members only; notes the items that are refused. */
  approve(loaded: InspectedPack): InspectedPack {
    const { inspected, problems, unusable } = this.#gate.checkPack({
      inspected: loaded,
      problems: [],
      unusable: new Map(),
    });
    for (const problem of problems) this.#report(problem);
    const items = inspected.items.map((item) => {
      const problem = unusable.get(item);
      if (problem === undefined) return item;
      // A toolset that is left out must add no members.
      const kept =
        item.shape === "toolsetList"
          ? { ...item, definition: { ...item.definition, tools: [], toolsets: [] } }
          : item;
      this.#refused.set(kept, problem);
      return kept;
    });
    return { ...inspected, items };
  }

  /** Why items are not approved, by qualified name. */
  get refusals(): ReadonlyMap<string, Problem> {
    return new Map([...this.#refused].map(([{ qualifiedName }, problem]) => [qualifiedName, problem]));
  }

  /** Throws for an item that is not approved. */
  refuse(item: InspectedItem): void {
    const problem = this.#refused.get(item);
    this.#gate.refuseDifferences();
    if (problem !== undefined) throw new TrailblazeError(problem);
  }

  /** The tools that are approved. Throws if a frozen lock differs. */
  keepTools(tools: readonly ServerMember[]): ServerMember[] {
    this.#gate.refuseDifferences();
    return tools.filter((member) => member.type === "builtIn" || !this.#refused.has(member.item));
  }

  /** The members that are approved. Throws if there is none left. */
  dropRefused(members: ServerMembers): ServerMembers {
    const tools = this.keepTools(members.tools);
    const keep = (items: readonly InspectedItem[]) => items.filter((item) => !this.#refused.has(item));
    const prompts = keep(members.prompts);
    const resources = keep(members.resources);
    const ofTools = members.tools.flatMap((one) => (one.type === "builtIn" ? [] : [one.item]));
    const all = [...ofTools, ...members.prompts, ...members.resources, ...members.toolsets];
    const [problem] = all.flatMap((item) => this.#refused.get(item) ?? []);
    if (problem !== undefined && [...tools, ...prompts, ...resources].length === 0)
      throw new TrailblazeError(problem);
    return { ...members, tools, prompts, resources };
  }
}
