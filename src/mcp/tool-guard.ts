import { isRecord } from "../data/parse-json.ts";
import { own } from "./client/incoming-message.ts";
import { cancelledIdOf, methodOf, type RequestId, requestIdOf, rpcCode } from "./client-message.ts";

type Message = Readonly<Record<string, unknown>>;

/** Decides what clients learn of a server that is passed on. */
export interface ToolPolicy {
  /** Whether clients may see and call a tool of `tools/list`. */
  mayUse(tool: Message): boolean;
  /** Whether instructions are passed on or omitted, or the server is not used. */
  checkInstructions(instructions: string | undefined): "pass" | "omit" | "refuse";
}

/** How many pages of a list are read. */
const mostPages = 1000;

export const unapprovedInstructions = "The server's instructions are not approved by trailblaze.lock.";

/** The error of a call of a tool that clients may not use. */
export const describeUnapproved = (name: unknown): string =>
  `The tool ${JSON.stringify(name)} is not approved by trailblaze.lock.`;

/** Which tools of a server clients may call, by what it listed last. */
export class KnownTools {
  readonly #policy: ToolPolicy;
  /** `undefined` until a whole list was seen. */
  #usable: Set<string> | undefined;
  #pages = new Set<string>();
  /** A call may reach either of two tools with the same name. */
  #refused = new Set<string>();
  #pageCount = 0;

  constructor(policy: ToolPolicy) {
    this.#policy = policy;
  }

  get isComplete(): boolean {
    return this.#usable !== undefined;
  }

  mayCall(name: unknown): boolean {
    return typeof name === "string" && this.#usable?.has(name) === true;
  }

  /** The list has changed. */
  forget(): void {
    this.#usable = undefined;
  }

  /** The same result of `tools/list` without what clients may not use. `isFirst`: the page that a request without a cursor got. */
  filter(result: Message, isFirst: boolean): Message {
    const tools = Array.isArray(result.tools) ? result.tools.filter(isRecord) : [];
    if (isFirst) [this.#pages, this.#refused, this.#pageCount] = [new Set(), new Set(), 0];
    this.#pageCount += 1;
    for (const tool of tools) {
      const isUsable = this.#policy.mayUse(tool);
      (isUsable ? this.#pages : this.#refused).add(String(tool.name));
    }
    for (const name of this.#refused) this.#pages.delete(name);
    if (result.nextCursor === undefined || this.#pageCount >= mostPages) this.#usable = this.#pages;
    return { ...result, tools: tools.filter(({ name }) => this.#pages.has(String(name))) };
  }
}

/** How many calls may wait for the list. */
const mostWaiting = 1000;

export interface GuardedConnection {
  /** Writes a message of the client, or one of the guard's own. */
  toServer(message: Message): void;
  toClient(message: Message): void;
  /** Called when the server must not be used, after its client was told. */
  onRefused(): void;
}

interface OpenRequest {
  id: RequestId;
  message: Message;
}

/** Stands between a client and a server that speak any revision of MCP, and hides the tools that are not approved. */
export class MessageGuard {
  readonly #connection: GuardedConnection;
  readonly #policy: ToolPolicy;
  readonly #tools: KnownTools;
  /**
   * The client's requests that have no answer yet, by their ids as JSON. Each gets one answer: a client may reject the first
   * one, and take a second one that was not seen as the answer to its request.
   */
  readonly #open = new Map<string, OpenRequest>();
  /** Calls that wait for the list. */
  #waiting: Message[] = [];
  /** The guard's own request; `undefined` if none is open. */
  #ownRequest: { id: string; isFirst: boolean; meta: unknown } | undefined;
  #requests = 0;

  constructor(policy: ToolPolicy, connection: GuardedConnection) {
    this.#policy = policy;
    this.#connection = connection;
    this.#tools = new KnownTools(policy);
  }

  fromClient(message: Message): void {
    const method = methodOf(message);
    const cancelled = cancelledIdOf(message);
    if (cancelled !== undefined) {
      this.#waiting = this.#waiting.filter((one) => requestIdOf(one) !== cancelled);
      this.#open.delete(JSON.stringify(cancelled));
    }
    if (method === "tools/call") {
      this.#call(message);
      return;
    }
    this.#forward(message);
  }

  #forward(message: Message): void {
    const id = requestIdOf(message);
    if (id !== undefined) this.#open.set(JSON.stringify(id), { id, message });
    this.#connection.toServer(message);
  }

  /** Takes the request that a message with this id answers. Clients may take the string "1" for the id 1. */
  #take(id: unknown): OpenRequest | undefined {
    const other = typeof id === "string" ? id : JSON.stringify(String(id));
    const key = [JSON.stringify(id), other].find((one) => one !== undefined && this.#open.has(one));
    if (key === undefined) return undefined;
    const request = this.#open.get(key);
    this.#open.delete(key);
    return request;
  }

  fromServer(message: Message): void {
    if (methodOf(message) === "notifications/tools/list_changed") this.#tools.forget();
    const result = own(message, "result");
    if (result === undefined && own(message, "error") === undefined) {
      this.#connection.toClient(message);
      return;
    }
    const answered = own(message, "id");
    if (answered === this.#ownRequest?.id) {
      this.#onOwnAnswer(isRecord(result) ? result : undefined);
      return;
    }
    // An error without an id answers a message that the server could not read.
    if (answered == null && result === undefined) this.#connection.toClient(message);
    const request = answered == null ? undefined : this.#take(answered);
    if (request === undefined) return;
    const { id } = request;
    const method = methodOf(request.message);
    if (isRecord(result) && method === "tools/list") {
      const isFirst = own(asRecord(request.message.params), "cursor") === undefined;
      this.#connection.toClient({ jsonrpc: "2.0", id, result: this.#tools.filter(result, isFirst) });
    } else if (isRecord(result) && (method === "initialize" || method === "server/discover"))
      this.#passHandshake(id, result);
    else this.#connection.toClient({ ...message, id });
  }

  #passHandshake(id: RequestId, result: Message): void {
    const { instructions, ...others } = result;
    const isText = typeof instructions === "string";
    const verdict = this.#policy.checkInstructions(isText ? instructions : undefined);
    if (verdict !== "refuse") {
      const passed = verdict === "pass" && isText ? result : others;
      this.#connection.toClient({ jsonrpc: "2.0", id, result: passed });
      return;
    }
    const error = {
      code: rpcCode.internal,
      message: unapprovedInstructions,
    };
    this.#connection.toClient({ jsonrpc: "2.0", id, error });
    this.#connection.onRefused();
  }

  #call(message: Message): void {
    if (this.#tools.isComplete) {
      this.#settle(message);
      return;
    }
    if (this.#waiting.length >= mostWaiting) {
      this.#refuse(message);
      return;
    }
    this.#waiting.push(message);
    if (this.#ownRequest === undefined) this.#list(own(asRecord(message.params), "_meta"), undefined);
  }

  /** Asks for the list, with the metadata that requests of modern clients need. */
  #list(meta: unknown, cursor: unknown): void {
    const { progressToken: _, ...kept } = isRecord(meta) ? meta : {};
    this.#requests += 1;
    const id = `trailblaze-list-${this.#requests}`;
    this.#ownRequest = { id, isFirst: cursor === undefined, meta };
    const params = {
      ...(cursor === undefined ? {} : { cursor }),
      ...(Object.keys(kept).length === 0 ? {} : { _meta: kept }),
    };
    this.#connection.toServer({ jsonrpc: "2.0", id, method: "tools/list", params });
  }

  #onOwnAnswer(result: Message | undefined): void {
    const { isFirst = true, meta } = this.#ownRequest ?? {};
    this.#ownRequest = undefined;
    if (result !== undefined) {
      this.#tools.filter(result, isFirst);
      if (!this.#tools.isComplete) {
        this.#list(meta, result.nextCursor);
        return;
      }
    }
    for (const message of this.#waiting.splice(0)) this.#settle(message);
  }

  #settle(message: Message): void {
    if (this.#tools.mayCall(own(asRecord(message.params), "name"))) this.#forward(message);
    else this.#refuse(message);
  }

  #refuse(message: Message): void {
    const id = requestIdOf(message);
    if (id === undefined) return;
    const error = {
      code: rpcCode.params,
      message: describeUnapproved(own(asRecord(message.params), "name")),
    };
    this.#connection.toClient({ jsonrpc: "2.0", id, error });
  }
}

const asRecord = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {});
