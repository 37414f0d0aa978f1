import { isToolChosen } from "../config/tool-policy.ts";
import { carryIntegers } from "../data/exact-integers.ts";
import { isRecord } from "../data/parse-json.ts";
import { fitsServerTemplate } from "../extension-schema/uri-template.ts";
import {
  findReservedParameters,
  mayRefuseContext,
  reservedParameter,
} from "../json-schema/reserved-parameters.ts";
import type { ListedServer, ListVerdict } from "../lock/gate.ts";
import type { LockGate } from "../lock/lock-gate.ts";
import type { Introduction } from "../mcp/client/server.ts";
import { findInvalidTools, type ListedEntry, type ListedKind, listKeys } from "../mcp/client/server-lists.ts";
import { createProblem, type Problem, quote, TrailblazeError } from "../problems/index.ts";
import { addPrefix, makeOwnName, offerNames } from "../qualified-names/advertised-names.ts";
import { pagesOf } from "../runtime/apps.ts";
import { createEntryMeta } from "../runtime/mcp-shapes.ts";
import type { ServerPlan } from "../runtime/server-launches.ts";
import { createResource, createTool, describePrompt } from "./collect-items.ts";
import {
  type Contribution,
  contribute,
  describeUnusable,
  type LeftOut,
  type SessionItem,
  type Skipped,
} from "./items.ts";
import type { SessionServer } from "./session-servers.ts";
import { describeServerSkill } from "./session-skills.ts";

/** What a server may offer: entries as the lock has them, and why some of them are left out. */
interface Offer extends Omit<ListVerdict, "refused"> {
  of: ListedServer;
  entries: readonly (ListedEntry & { left?: LeftOut | undefined })[];
  /** Whether the server, if it has said this, has said something else than what is approved. */
  differs: boolean;
}

/** An approved entry as the lock has it, with what passes unrecorded. */
function asRecorded({ entry }: ListedEntry, approved: ListedEntry): ListedEntry {
  const { size, annotations } = entry as { size?: number; annotations?: unknown };
  const lastModified = isRecord(annotations) ? annotations.lastModified : undefined;
  const { annotations: recorded } = approved.entry as { annotations?: object };
  const passed = {
    ...(size !== undefined && { size }),
    ...(lastModified !== undefined && { annotations: { ...recorded, lastModified } }),
  };
  return { ...approved, entry: { ...approved.entry, ...passed } } as ListedEntry;
}

const byId = (a: ListedEntry, b: ListedEntry) =>
  listKeys.indexOf(a.list) - listKeys.indexOf(b.list) || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

/** A tool's entry with what the config replaces of it. Its fixed arguments are not for models. */
function overrideEntry(one: ListedEntry, choices: ServerPlan["entry"]["choices"]): ListedEntry {
  const { override = {} } = choices ?? {};
  if (one.kind !== "tool" || !Object.hasOwn(override, one.id)) return one;
  const { arguments: fixed = {}, annotations, ...shown } = override[one.id] ?? {};
  const { inputSchema } = one.entry;
  const { properties, required } = inputSchema;
  const isFree = (name: string) => !Object.hasOwn(fixed, name);
  const entry = {
    ...one.entry,
    ...shown,
    ...(annotations && { annotations: { ...one.entry.annotations, ...annotations } }),
    inputSchema: carryIntegers(inputSchema, {
      ...inputSchema,
      ...(isRecord(properties) && {
        properties: Object.fromEntries(Object.entries(properties).filter(([name]) => isFree(name))),
      }),
      ...(Array.isArray(required) && { required: required.filter(isFree) }),
    }),
  };
  return { ...one, entry };
}

const keyOf = ({ kind, id }: { kind: ListedKind; id: string }) => `${kind} ${id}`;

interface HowUsed {
  /** Whether the server starts when it is needed; it then needs what is `approved`. */
  isLazy: boolean;
  gate: LockGate | undefined;
  /** What the lock approves. */
  approved: ListedServer | undefined;
  /** Applies the policy for packs to the server's own names. */
  isAllowed(name: string): boolean;
}

/**
 * A server as one reading of the project uses it: what it says, or what the lock approves until it has run; without what the lock
 * does not approve; without what the config excludes.
 */
export class ServerSource {
  readonly plan: ServerPlan;
  readonly server: SessionServer;
  readonly how: HowUsed;
  /** What was refused or gone after a start: where states do not follow the server, it stays so, and other tools keep their names. */
  readonly #lost = new Map<string, Problem>();
  #offer: Offer | undefined;

  constructor(plan: ServerPlan, server: SessionServer, how: HowUsed) {
    this.plan = plan;
    this.server = server;
    this.how = how;
  }

  /** `undefined` while nothing is known of the server. Throws `TrailblazeError` `LockMismatch`. */
  get offer(): Offer | undefined {
    const said = this.server.said ?? (this.how.isLazy ? this.how.approved : undefined);
    if (said !== undefined && this.#offer?.of !== said) this.#offer = this.#compare(said);
    return this.#offer;
  }

  #compare(said: ListedServer & { leftOut?: Introduction["leftOut"] }): Offer {
    const { plan } = this;
    const all = said.entries.map((one) => overrideEntry(one, plan.entry.choices));
    const isDenied = (one: ListedEntry) => this.#explainDenied(one) !== undefined;
    const { refused, ...verdict } = this.how.gate?.checkList(plan, { ...said, entries: all }, isDenied) ?? {
      refused: new Map<ListedEntry, Problem>(),
      problems: [],
      vanished: [],
      instructions: said.instructions,
    };
    const { refusal, problems, vanished } = verdict;
    if (said !== this.how.approved && !this.server.isFollowed) {
      for (const one of all) {
        const lost = this.#lost.get(keyOf(one));
        if (lost === undefined || refused.has(one)) continue;
        problems.push(lost);
        refused.set(one, lost);
      }
      for (const [one, problem] of refused) this.#lost.set(keyOf(one), problem);
      for (const one of vanished) this.#lost.set(keyOf(one), one.problem);
    }
    const approved = new Map(this.how.approved?.entries.map((one) => [keyOf(one), one]));
    const entries = all.map((one) => {
      const message = this.#explainDenied(one);
      if (message !== undefined) return { ...one, left: { reason: "Denied" as const, message } };
      const problem = refused.get(one);
      if (problem !== undefined)
        return { ...one, left: describeUnusable(one.kind, one.id, plan.source, problem) };
      const recorded = approved.get(keyOf(one));
      return recorded === undefined || recorded === one ? one : asRecorded(one, recorded);
    });
    const differences = refused.size + problems.length + vanished.length + (said.leftOut?.length ?? 0);
    return {
      ...verdict,
      of: said,
      entries: this.how.gate ? entries.sort(byId) : entries,
      differs: refusal !== undefined || differences > 0,
    };
  }

  #explainDenied({ kind, id, entry }: ListedEntry): string | undefined {
    const { choices } = this.plan.entry;
    if (!this.how.isAllowed(kind === "tool" ? id : entry.name)) return "The config's `packs` excludes it.";
    // `tools` of a server in the config is only about its tools.
    return kind !== "tool" || choices === undefined || isToolChosen(choices, id)
      ? undefined
      : "`tools` of its server in the config excludes it.";
  }

  /** Why a resource is denied by its URI or by a template, listed or not; `undefined` if it is not. */
  #findDenial(uri: string): LeftOut | undefined {
    const { entries = [], reserved } = this.offer ?? {};
    const fits = (id: string) => id === uri || fitsServerTemplate(id, uri);
    const listed = entries.find(
      ({ kind, id, left }) => kind === "resource" && left?.reason === "Denied" && fits(id),
    );
    if (listed !== undefined) return listed.left;
    if (reserved?.resource.some(fits) !== true) return undefined;
    const { label, pack: entry = label } = this.plan;
    const args = { name: `${label}/${uri}`, state: "denied", differences: [], entry } as const;
    return describeUnusable("resource", uri, this.plan.source, createProblem("NotApproved", args));
  }

  /** Whether a tool that is offered names a page, listed or not, which is approved with it unless somebody has denied it. */
  names(page: string): boolean {
    if (this.#findDenial(page) !== undefined) return false;
    const { entries = [] } = this.offer ?? {};
    return entries.some((one) => one.kind === "tool" && !one.left && pagesOf(one.entry._meta).includes(page));
  }

  /** Why something is left out that the server lists, or that is denied, by its name or URI; `undefined` for any other. */
  findLeft(kind: ListedKind, id: string): LeftOut | undefined {
    const { entries = [] } = this.offer ?? {};
    if (kind === "resource" && this.names(id)) return undefined;
    const own = entries.find((one) => one.kind === kind && one.id === id);
    if (own !== undefined || kind !== "resource") return own?.left;
    const templates = entries.filter(
      (one) => one.list === "resourceTemplates" && fitsServerTemplate(one.id, id),
    );
    return this.#findDenial(id) ?? (templates.every(({ left }) => left) ? templates[0]?.left : undefined);
  }

  /**
   * Refuses a request to the server, which runs, for what the lock does not approve. Throws `TrailblazeError` `NotApproved`,
   * `LockOutdated` or `LockMismatch`.
   */
  refuse(kind: ListedKind, id: string): void {
    if (this.how.gate === undefined) return;
    const { refusal, vanished = [] } = this.offer ?? {};
    // What a result links to need not be listed.
    const gone = vanished.find((one) => kind !== "resource" && one.kind === kind && one.id === id);
    const problem = refusal ?? this.findLeft(kind, id)?.problem ?? gone?.problem;
    if (problem !== undefined) throw new TrailblazeError(problem);
  }
}

/**
 * What a server offers of its lists, as far as the config and the lock allow it; nothing while they are unknown. One that says
 * something else to models than is approved is ended, and offers nothing.
 */
export function collectServer(from: ServerSource): Contribution {
  const { plan, server, offer } = from;
  const { label, source, place } = plan;
  if (offer === undefined) {
    const { fault } = server;
    if (fault === undefined) return contribute();
    const path = fault.path ?? place.path;
    // Calls of its tools say what to do.
    const problem = fault.code === "AuthorizationRequired" ? fault : undefined;
    const why = { reason: "ServerFailed", message: fault.message, problem } as const;
    return contribute({
      skipped: [{ kind: "server", name: label, source, ...why }],
      problems: [{ ...fault, ...place, ...(path && { path }) }],
    });
  }
  if (offer.refusal !== undefined) {
    void server.close();
    const skipped = describeUnusable("server", source.item ?? label, source, offer.refusal);
    return contribute({ skipped: [skipped], problems: [offer.refusal] });
  }
  const { leftOut = [] } = server.said ?? {};
  const invalidTools = findInvalidTools(leftOut);
  const items: SessionItem[] = [];
  const skipped = invalidTools.map(
    ({ name, reason: message }): Skipped => ({ kind: "tool", name, source, reason: "Invalid", message }),
  );
  const problems = leftOut.map((fault): Problem => {
    return { ...createProblem("ServerListIncomplete", { label, ...fault }), ...place };
  });
  const { prefix, toolset } = plan.entry.choices ?? {};
  const namesOf = (kind: ListedKind, others: readonly { name: string }[] = []) => {
    const own = offer.entries.flatMap((one) => (one.kind === kind ? [one.entry.name] : []));
    return offerNames(prefix, [...own, ...others.map(({ name }) => name)], offer.reserved?.[kind]);
  };
  const names = { tool: namesOf("tool", invalidTools), prompt: namesOf("prompt") };

  for (const one of offer.entries) {
    const { kind, id, entry, left } = one;
    const route = { by: "server", from, id } as const;
    if (left !== undefined) {
      const name = kind === "skill" ? entry.name : makeOwnName(prefix, id);
      skipped.push({ ...left, name, source, kind });
      continue;
    }
    if (kind === "skill") {
      items.push(describeServerSkill(from, entry));
      continue;
    }
    if (kind === "resource") {
      items.push(createResource(source, { ...entry, _meta: createEntryMeta(entry._meta, null) }, route));
      continue;
    }
    const name = names[kind].get(entry.name) ?? makeOwnName(prefix, entry.name);
    const renamed = name === addPrefix(prefix ?? "", id) ? undefined : { "trailblaze/originalName": id };
    if (kind === "prompt") {
      const shown = describePrompt({ name, qualifiedName: null, source }, entry, renamed);
      const listing = { ...entry, _meta: createEntryMeta(entry._meta, null, renamed) };
      items.push({ kind, shown, listing, route });
      continue;
    }
    if (entry.execution?.taskSupport === "required") {
      const message = "It can be called only as a task, and sessions do not support tasks.";
      skipped.push({ kind, name, source, reason: "TaskRequired", message });
      continue;
    }
    const { tool, faults } = createTool({ name, qualifiedName: null, source }, entry, route, renamed);
    const [path] = findReservedParameters(entry.inputSchema);
    const reserved = path && createProblem("ReservedParameter", { name: reservedParameter }, { path });
    // A problem's place has no key for a tool of a server, or for a server of the config.
    const ofServer = source.pack === undefined ? ` of server ${quote(label)}` : "";
    for (const { file: _, path: __, ...fault } of reserved ? [reserved] : faults) {
      const message = `Tool ${quote(id)}${ofServer}: ${fault.message}`;
      problems.push({ ...fault, message, ...place });
    }
    // A strict server would reject the extra key; `_meta.trailblaze` has the same data.
    const legacyContext = plan.legacyContext && !mayRefuseContext(entry.inputSchema);
    if (reserved) skipped.push(describeUnusable(kind, name, source, reserved));
    else items.push({ ...tool, toolset, legacyContext });
  }
  for (const { kind, id, problem } of offer.vanished)
    skipped.push(describeUnusable(kind, makeOwnName(prefix, id), source, problem));
  return { items, skipped, problems: [...problems, ...offer.problems] };
}
