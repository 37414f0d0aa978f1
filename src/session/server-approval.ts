import { isRecord } from "../data/parse-json.ts";
import { fitsServerTemplate } from "../extension-schema/uri-template.ts";
import type { Gate, IsDenied, ListedServer, ListVerdict } from "../lock/gate.ts";
import type {
  AdvertisedPrompt,
  AdvertisedResource,
  AdvertisedResourceTemplate,
  AdvertisedTool,
} from "../mcp/client/connected-server.ts";
import type { ServerLists } from "../mcp/client/server-lists.ts";
import { type Problem, TrailblazeError } from "../problems/index.ts";
import type { ServerPlan } from "../runtime/server-launches.ts";
import type { PlannedServer, SessionServer } from "./session-servers.ts";

type Listed = AdvertisedTool | AdvertisedPrompt | AdvertisedResource | AdvertisedResourceTemplate;

/** What identifies an entry in its list. */
const keyOf = (one: Listed): string =>
  "uriTemplate" in one ? one.uriTemplate : "uri" in one ? one.uri : one.name;

const byKey = (a: Listed, b: Listed) => (keyOf(a) < keyOf(b) ? -1 : keyOf(a) > keyOf(b) ? 1 : 0);

/** The refused template that a URI is of, unless another one has it too. */
function findTemplate(
  templates: readonly AdvertisedResourceTemplate[],
  refused: ReadonlyMap<object, Problem>,
  uri: string,
): AdvertisedResourceTemplate | undefined {
  const fitting = templates.filter(({ uriTemplate }) => fitsServerTemplate(uriTemplate, uri));
  return fitting.every((one) => refused.has(one)) ? fitting[0] : undefined;
}

const noLists: ServerLists = { tools: [], prompts: [], resources: [], resourceTemplates: [] };
const noVerdict: ListVerdict = { refused: new Map(), problems: [], vanished: [] };

/** What a server may offer, in the order of its names. */
interface Offer {
  lists: ServerLists;
  verdict: ListVerdict;
}

/** An approved entry as the lock has it, the same to the byte for a server that has not started, with what passes unrecorded. */
function asRecorded<One extends Listed>(listed: One, approved: One): One {
  const { size, annotations } = listed as { size?: number; annotations?: unknown };
  const lastModified = isRecord(annotations) ? annotations.lastModified : undefined;
  const { annotations: recorded } = approved as { annotations?: object };
  return {
    ...approved,
    ...(size !== undefined && { size }),
    ...(lastModified !== undefined && { annotations: { ...recorded, lastModified } }),
  };
}

/**
 * What the lock says about the lists of one server of a state. A server that has not run offers what the lock approves, and
 * afterwards what is left of that; one that starts with the session offers what it lists itself.
 */
export class ServerApproval {
  readonly #gate: Gate;
  readonly #plan: ServerPlan;
  readonly #server: SessionServer;
  readonly #approved: ListedServer | undefined;
  /** Whether the server starts when it is needed. */
  readonly isLazy: boolean;
  readonly #isDenied: IsDenied;
  #comparedLists: ServerLists | undefined;
  #offer: Offer | undefined;
  /** What was refused or gone after a start, by kind and name: it stays so, and other tools keep their names. */
  readonly #lost = new Map<string, Problem>();

  /** `approved`: what the lock approves; needed for a server that `isLazy`. */
  constructor(
    gate: Gate,
    { plan, server }: Pick<PlannedServer, "plan" | "server">,
    { approved, isLazy }: { approved: ListedServer | undefined; isLazy: boolean },
    isDenied: IsDenied,
  ) {
    this.#gate = gate;
    this.#plan = plan;
    this.#server = server;
    this.#approved = approved;
    this.isLazy = isLazy;
    this.#isDenied = isDenied;
  }

  /** `undefined` while nothing is known of the server. Throws `TrailblazeError` `LockMismatch`. */
  get offer(): Offer | undefined {
    const approved = this.isLazy ? this.#approved : undefined;
    const { lists = approved?.lists, instructions } = this.#server;
    if (lists === undefined) return undefined;
    if (this.#comparedLists !== lists) {
      const isApproved = lists === approved?.lists;
      const listed = isApproved ? approved : { lists, instructions };
      const checked = this.#gate.checkList(this.#plan, listed, this.#isDenied);
      const verdict = isApproved ? checked : this.#keepLost(lists, checked);
      const offered = isApproved ? lists : this.#keepApproved(lists, verdict.refused);
      this.#offer = { lists: this.#gate.sortsTools ? sortLists(offered) : offered, verdict };
      this.#comparedLists = lists;
    }
    return this.#offer;
  }

  /** The same with what differed after an earlier start, even if the server now lists it as approved. */
  #keepLost(lists: ServerLists, verdict: ListVerdict): ListVerdict {
    const refused = new Map(verdict.refused);
    const problems = [...verdict.problems];
    const { tools: tool, prompts: prompt, resources, resourceTemplates } = lists;
    const all = { tool, prompt, resource: [...resources, ...resourceTemplates] };
    for (const [kind, entries] of Object.entries(all)) {
      for (const one of entries) {
        const key = `${kind} ${keyOf(one)}`;
        const problem = refused.get(one);
        const before = this.#lost.get(key);
        if (problem !== undefined) this.#lost.set(key, problem);
        else if (before !== undefined) {
          refused.set(one, before);
          problems.push(before);
        }
      }
    }
    for (const { kind, name, problem } of verdict.vanished) this.#lost.set(`${kind} ${name}`, problem);
    return { ...verdict, refused, problems };
  }

  /** Whether the server has said something else than what is approved. Throws `LockMismatch`. */
  get differs(): boolean {
    const { offer } = this;
    if (this.#server.lists === undefined || offer === undefined) return false;
    const { refusal, refused, problems, vanished } = offer.verdict;
    const lost = refused.size + problems.length + vanished.length;
    const { invalidTools, listProblems } = this.#server;
    return refusal !== undefined || lost + invalidTools.length + listProblems.length > 0;
  }

  /**
   * Refuses a request to the server, which runs, for what the lock does not approve. Throws `TrailblazeError` `NotApproved`,
   * `LockOutdated` or `LockMismatch`.
   */
  refuse(kind: "tool" | "prompt" | "resource", name: string): void {
    const problem = this.differs ? this.#findRefusal(kind, name) : undefined;
    if (problem !== undefined) throw new TrailblazeError(problem);
  }

  /** Whether `refuse` throws. */
  refuses(kind: "tool" | "prompt" | "resource", name: string): boolean {
    try {
      this.refuse(kind, name);
      return false;
    } catch {
      return true;
    }
  }

  #findRefusal(kind: "tool" | "prompt" | "resource", name: string): Problem | undefined {
    const { refusal, refused, vanished } = this.#offer?.verdict ?? noVerdict;
    const { tools, prompts, resources, resourceTemplates } = this.#comparedLists ?? noLists;
    const entries: readonly Listed[] =
      kind === "tool" ? tools : kind === "prompt" ? prompts : [...resources, ...resourceTemplates];
    const listed =
      entries.find((one) => keyOf(one) === name) ??
      (kind === "resource" ? findTemplate(resourceTemplates, refused, name) : undefined);
    // What a result links to need not be listed.
    const gone = vanished.find((one) => kind !== "resource" && one.kind === kind && one.name === name);
    return refusal ?? (listed && refused.get(listed)) ?? gone?.problem;
  }

  /** The lists of a server that has run, with its approved entries as the lock has them: what models see does not change. */
  #keepApproved(lists: ServerLists, refused: ReadonlyMap<object, Problem>): ServerLists {
    const approved = this.#approved?.lists;
    if (approved === undefined) return lists;
    const keep = <One extends Listed>(listed: readonly One[], known: readonly One[]): One[] => {
      const before = new Map(known.map((one) => [keyOf(one), one]));
      return listed.map((one) => {
        const kept = refused.has(one) ? undefined : before.get(keyOf(one));
        if (kept === undefined) return one;
        return this.isLazy ? kept : asRecorded(one, kept);
      });
    };
    return {
      tools: keep(lists.tools, approved.tools),
      prompts: keep(lists.prompts, approved.prompts),
      resources: keep(lists.resources, approved.resources),
      resourceTemplates: keep(lists.resourceTemplates, approved.resourceTemplates),
    };
  }
}

const sortLists = ({ tools, prompts, resources, resourceTemplates }: ServerLists): ServerLists => ({
  tools: tools.toSorted(byKey),
  prompts: prompts.toSorted(byKey),
  resources: resources.toSorted(byKey),
  resourceTemplates: resourceTemplates.toSorted(byKey),
});
