import type { UserServer } from "../config/session-config.ts";
import { isRecord } from "../data/parse-json.ts";
import { withoutRange } from "../extension-schema/references.ts";
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

  isRefused(item: InspectedItem): boolean {
    return this.#refused.has(item);
  }

  /** Throws for an item that is not approved. */
  refuse(item: InspectedItem): void {
    const problem = this.#refused.get(item);
    this.#gate.refuseDifferences();
    if (problem !== undefined) throw new TrailblazeError(problem);
  }

  /** The members that are approved. Throws if there is none left. */
  dropRefused(members: ServerMembers): ServerMembers {
    this.#gate.refuseDifferences();
    const tools = members.tools.filter((member) => member.type === "builtIn" || !this.isRefused(member.item));
    const prompts = members.prompts.filter((item) => !this.isRefused(item));
    const resources = members.resources.filter((item) => !this.isRefused(item));
    const all = [
      ...members.tools.flatMap((one) => (one.type === "builtIn" ? [] : [one.item])),
      ...members.prompts,
      ...members.resources,
    ];
    const [problem] = [...all, ...members.toolsets].flatMap((item) => this.#refused.get(item) ?? []);
    if (problem !== undefined && [...tools, ...prompts, ...resources].length === 0)
      throw new TrailblazeError(problem);
    return { ...members, tools, prompts, resources };
  }

  /** Leaves out entries of bundles that refer to a refused tool, and returns the tools that others refer to. */
  dropReferring(members: ServerMembers, referred: readonly ServerMember[]): ServerMember[] {
    this.#gate.refuseDifferences();
    const refused = new Set(
      referred.flatMap((member) =>
        member.type === "tool" && this.#refused.has(member.item) ? [member.item.qualifiedName] : [],
      ),
    );
    if (refused.size === 0) return [...referred];
    for (const member of members.tools) {
      if (member.type !== "bundle") continue;
      const { item } = member;
      const pack = item.qualifiedName.slice(0, item.qualifiedName.lastIndexOf("/"));
      const refers = (handler: unknown) => {
        const name = withoutRange(String(handler));
        return refused.has(name) || refused.has(`${pack}/${name}`);
      };
      const entries = Array.isArray(item.definition?.entries) ? item.definition.entries : [];
      const kept = entries.filter((entry) => !isRecord(entry) || !refers(entry.handler));
      item.definition = { ...item.definition, entries: kept };
    }
    return referred.filter((member) => member.type !== "tool" || !refused.has(member.item.qualifiedName));
  }
}
