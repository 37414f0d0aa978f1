import { isRecord } from "../data/parse-json.ts";
import { isResultMethod, repairResult } from "../runtime/mcp-shapes.ts";
import { ResourceLinks } from "../runtime/resource-links.ts";
import { fitsServerTemplate } from "../runtime/server-templates.ts";
import { noteLeftOut } from "./client/call-result.ts";
import type { ResultFault } from "./client/connected-server.ts";
import {
  ListError,
  type ListFault,
  type ListKey,
  listKeys,
  listRules,
  readPage,
} from "./client/server-lists.ts";
import { rpcCode } from "./client-message.ts";

type Message = Readonly<Record<string, unknown>>;

/** Decides what clients learn of a server that is passed on. */
export interface ListPolicy {
  /** Whether clients may see and use an entry of a list. */
  mayUse(list: ListKey, entry: Message): boolean;
  /** Whether instructions are passed on or omitted, or the server is not used. */
  checkInstructions(instructions: string | undefined): "pass" | "omit" | "refuse";
  /** Reports a part of a list or of a result that clients do not get, because it is invalid. */
  leaveOut(fault: ListFault | ResultFault): void;
}

/** How many pages of a list are read. */
const mostPages = 1000;

/** The links in results that clients got, which they may read although no list has them. */
export type KnownLinks = ResourceLinks<true>;
export const createLinks = (): KnownLinks => new ResourceLinks<true>();

const asRecord = (value: unknown): Message => (isRecord(value) ? value : {});

/** The list that a method reads. */
export const listOf = (method: string | undefined): ListKey | undefined =>
  listKeys.find((key) => listRules[key].method === method);

/** What a request uses: an entry of a list, or a URI. */
export interface Use {
  kind: "tool" | "prompt" | "resource";
  name: unknown;
}

/** What a request uses that may not be approved; `undefined` for other requests. */
export function findUse(method: string | undefined, params: unknown): Use | undefined {
  const { name, uri, ref } = asRecord(params);
  switch (method) {
    case "tools/call":
      return { kind: "tool", name };
    case "prompts/get":
      return { kind: "prompt", name };
    case "resources/read":
    case "resources/subscribe":
      return { kind: "resource", name: uri };
    case "completion/complete": {
      const { type, name: prompt, uri: template } = asRecord(ref);
      return type === "ref/prompt" ? { kind: "prompt", name: prompt } : { kind: "resource", name: template };
    }
  }
}

const listsOf: Readonly<Record<Use["kind"], readonly ListKey[]>> = {
  tool: ["tools"],
  prompt: ["prompts"],
  resource: ["resources", "resourceTemplates"],
};

/** The error of a request for what clients may not use. */
export const refuseUse = ({ kind, name }: Use) => ({
  code: rpcCode.params,
  message: `The ${kind} ${JSON.stringify(name)} is not approved by trailblaze.lock.`,
});

/** What one list had last. */
class KnownList {
  readonly #key: ListKey;
  readonly #policy: ListPolicy;
  /** `undefined` until a whole list was seen. */
  usable: ReadonlySet<string> | undefined;
  #pages = new Set<string>();
  /** A request may reach either of two entries with the same name. */
  refused = new Set<string>();
  /** Of the pages that were read, without that of the first. */
  #cursors = new Set<unknown>();

  constructor(key: ListKey, policy: ListPolicy) {
    this.#key = key;
    this.#policy = policy;
  }

  filter({ _meta, ...result }: Message, cursor: unknown): Message {
    const key = this.#key;
    const { id } = listRules[key];
    if (cursor === undefined) [this.#pages, this.refused, this.#cursors] = [new Set(), new Set(), new Set()];
    else this.#cursors.add(cursor);
    const { entries, nextCursor } = this.#read(result);
    for (const entry of entries) {
      const isUsable = this.#policy.mayUse(key, entry);
      (isUsable ? this.#pages : this.refused).add(String(entry[id]));
    }
    for (const name of this.refused) this.#pages.delete(name);
    const isLast =
      nextCursor === undefined || this.#cursors.has(nextCursor) || this.#cursors.size >= mostPages;
    if (isLast) this.usable = this.#pages;
    return {
      ...result,
      [key]: entries.filter((entry) => this.#pages.has(String(entry[id]))),
      nextCursor: isLast ? undefined : nextCursor,
      _meta: isRecord(_meta) ? _meta : undefined,
    };
  }

  #read(result: Message): ReturnType<typeof readPage> {
    const leaveOut = (fault: ListFault) => this.#policy.leaveOut(fault);
    try {
      return readPage(this.#key, result, leaveOut);
    } catch (error) {
      if (!(error instanceof ListError)) throw error;
      leaveOut({ list: this.#key, isRest: true, reason: error.message });
      return { entries: [], nextCursor: undefined };
    }
  }
}

/** What of a server clients may use, by what it listed last. */
export class KnownLists {
  readonly #lists: Readonly<Record<ListKey, KnownList>>;
  readonly #links: KnownLinks;

  constructor(policy: ListPolicy, links: KnownLinks) {
    this.#links = links;
    this.#lists = Object.fromEntries(listKeys.map((key) => [key, new KnownList(key, policy)])) as Record<
      ListKey,
      KnownList
    >;
  }

  /** The lists that decide about a use and are not known. */
  findUnknown({ kind }: Use): ListKey[] {
    return listsOf[kind].filter((key) => this.#lists[key].usable === undefined);
  }

  /** By the lists that are known. */
  mayUse({ kind, name }: Use): boolean {
    if (typeof name !== "string") return false;
    const { resources, resourceTemplates } = this.#lists;
    const isUsable = (key: ListKey) => this.#lists[key].usable?.has(name) === true;
    if (kind === "tool") return isUsable("tools");
    if (kind === "prompt") return isUsable("prompts");
    if (isUsable("resources") || isUsable("resourceTemplates")) return true;
    if (resources.usable === undefined || resources.refused.has(name)) return false;
    const fits = (template: string) => fitsServerTemplate(template, name);
    if ([...(resourceTemplates.usable ?? [])].some(fits)) return true;
    return this.#links.makerOf(name) === true && ![...resourceTemplates.refused].some(fits);
  }

  /** The lists of a server's capability have changed. */
  forget(method: string | undefined): void {
    for (const key of listKeys) {
      const { capability } = listRules[key];
      if (method === `notifications/${capability}/list_changed`) this.#lists[key].usable = undefined;
    }
  }

  isKnown(key: ListKey): boolean {
    return this.#lists[key].usable !== undefined;
  }

  /** The same page of a list without what is invalid and what clients may not use. `cursor`: what the request for it had. */
  filter(key: ListKey, result: Message, cursor: unknown): Message {
    return this.#lists[key].filter(result, cursor);
  }
}

/**
 * Makes the result of a request valid for every client, and notes its links. Returns why no client can use it. `result` is
 * changed.
 */
export function readAnswer(
  {
    method = "",
    params,
    result,
  }: { method: string | undefined; params: unknown; result: Record<string, unknown> },
  { leaveOut }: ListPolicy,
  links: KnownLinks,
): string | undefined {
  const { resultType = "complete", task } = result;
  // Questions and tasks have other keys.
  if (!isResultMethod(method) || resultType !== "complete" || task !== undefined) return undefined;
  const fault = repairResult(method, result, noteLeftOut(method, asRecord(params), leaveOut));
  if (Array.isArray(result.content)) links.note(result.content, true);
  return fault && `The server answered \`${method}\` with an invalid result: it ${fault}.`;
}
