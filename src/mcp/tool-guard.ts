import { isRecord } from "../data/parse-json.ts";
import { own } from "./client/incoming-message.ts";
import { type ListKey, listRules } from "./client/server-lists.ts";
import { cancelledIdOf, methodOf, type RequestId, requestIdOf, rpcCode } from "./client-message.ts";
import {
  createLinks,
  findUse,
  KnownLists,
  type ListPolicy,
  listOf,
  readAnswer,
  refuseUse,
} from "./known-lists.ts";

type Message = Readonly<Record<string, unknown>>;

export const unapprovedInstructions = "The server's instructions are not approved by trailblaze.lock.";

/** How many requests may wait for a list. */
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

/** Stands between a client and a server that speak any revision of MCP, and hides what is not approved. */
export class MessageGuard {
  readonly #connection: GuardedConnection;
  readonly #policy: ListPolicy;
  readonly #lists: KnownLists;
  readonly #links = createLinks();
  /**
   * The client's requests that have no answer yet, by their ids as JSON. Each gets one answer: a client may reject the first
   * one, and take a second one that was not seen as the answer to its request.
   */
  readonly #open = new Map<string, OpenRequest>();
  /** Requests that wait for a list. */
  #waiting: Message[] = [];
  /** The guard's own request; `undefined` if none is open. */
  #ownRequest: { id: string; list: ListKey; cursor: unknown; meta: unknown } | undefined;
  #requests = 0;

  constructor(policy: ListPolicy, connection: GuardedConnection) {
    this.#policy = policy;
    this.#connection = connection;
    this.#lists = new KnownLists(policy, this.#links);
  }

  fromClient(message: Message): void {
    const cancelled = cancelledIdOf(message);
    if (cancelled !== undefined) {
      this.#waiting = this.#waiting.filter((one) => requestIdOf(one) !== cancelled);
      this.#open.delete(JSON.stringify(cancelled));
    }
    if (useOf(message) === undefined) this.#forward(message);
    else this.#check(message);
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
    this.#lists.forget(methodOf(message));
    const result = own(message, "result");
    if (result === undefined && own(message, "error") === undefined) {
      this.#connection.toClient(message);
      return;
    }
    const answered = own(message, "id");
    if (answered === this.#ownRequest?.id) {
      const isAbsent = own(asRecord(own(message, "error")), "code") === rpcCode.method;
      this.#onOwnAnswer(isRecord(result) ? result : isAbsent ? {} : undefined);
      return;
    }
    // An error without an id answers a message that the server could not read.
    if (answered == null && result === undefined) this.#connection.toClient(message);
    const request = answered == null ? undefined : this.#take(answered);
    if (request === undefined) return;
    const { id } = request;
    const method = methodOf(request.message);
    const list = listOf(method);
    const { params } = request.message;
    if (isRecord(result) && list !== undefined) {
      const cursor = own(asRecord(params), "cursor");
      this.#connection.toClient({ jsonrpc: "2.0", id, result: this.#lists.filter(list, result, cursor) });
      return;
    }
    if (isRecord(result) && (method === "initialize" || method === "server/discover")) {
      this.#passHandshake(id, result);
      return;
    }
    const fault = isRecord(result) && readAnswer({ method, params, result }, this.#policy, this.#links);
    if (fault)
      this.#connection.toClient({ jsonrpc: "2.0", id, error: { code: rpcCode.internal, message: fault } });
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

  #check(message: Message): void {
    if (this.#findUnknown(message) === undefined) this.#settle(message);
    else if (this.#waiting.length >= mostWaiting) this.#refuse(message);
    else {
      this.#waiting.push(message);
      if (this.#ownRequest === undefined) this.#listNext();
    }
  }

  /** The first list that decides about a request and is not known. */
  #findUnknown(message: Message): ListKey | undefined {
    const use = useOf(message);
    return use && this.#lists.findUnknown(use)[0];
  }

  /** Asks for a list that a request waits for. */
  #listNext(): void {
    for (const message of this.#waiting) {
      const list = this.#findUnknown(message);
      if (list === undefined) continue;
      this.#list(list, own(asRecord(message.params), "_meta"), undefined);
      return;
    }
  }

  /** Asks for a page of a list, with the metadata that requests of modern clients need. */
  #list(list: ListKey, meta: unknown, cursor: unknown): void {
    const { progressToken: _, ...kept } = isRecord(meta) ? meta : {};
    this.#requests += 1;
    const id = `trailblaze-list-${this.#requests}`;
    this.#ownRequest = { id, list, cursor, meta };
    const params = {
      ...(cursor === undefined ? {} : { cursor }),
      ...(Object.keys(kept).length === 0 ? {} : { _meta: kept }),
    };
    this.#connection.toServer({ jsonrpc: "2.0", id, method: listRules[list].method, params });
  }

  /** `undefined`: the list could not be read, so what waits for it is refused. */
  #onOwnAnswer(result: Message | undefined): void {
    if (this.#ownRequest === undefined) return;
    const { list, cursor, meta } = this.#ownRequest;
    this.#ownRequest = undefined;
    if (result !== undefined) {
      const { nextCursor } = this.#lists.filter(list, result, cursor);
      if (!this.#lists.isKnown(list)) {
        this.#list(list, meta, nextCursor);
        return;
      }
    }
    const isDecided = (message: Message) => {
      const unknown = this.#findUnknown(message);
      return unknown === undefined || (result === undefined && unknown === list);
    };
    const decided = this.#waiting.filter(isDecided);
    this.#waiting = this.#waiting.filter((message) => !decided.includes(message));
    for (const message of decided) this.#settle(message);
    if (this.#ownRequest === undefined) this.#listNext();
  }

  #settle(message: Message): void {
    const use = useOf(message);
    if (use !== undefined && this.#lists.findUnknown(use).length === 0 && this.#lists.mayUse(use))
      this.#forward(message);
    else this.#refuse(message);
  }

  #refuse(message: Message): void {
    const [id, use] = [requestIdOf(message), useOf(message)];
    if (id !== undefined && use !== undefined)
      this.#connection.toClient({ jsonrpc: "2.0", id, error: refuseUse(use) });
  }
}

const useOf = (message: Message) => findUse(methodOf(message), own(message, "params"));

const asRecord = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {});
