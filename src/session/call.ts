// The one path of every request for a tool, a prompt or a resource, by hosts, clients, tools and servers.
import { randomUUID } from "node:crypto";
import {
  type ConnectedServer,
  ServerCallError,
  type ServerCallOptions,
} from "../mcp/client/connected-server.ts";
import { abortable, CallStop, type Cancellation, whenAborted } from "../runtime/abort-listeners.ts";
import type { BundleOutcome, BundleRequest } from "../runtime/bundle.ts";
import { type CodeRunners, describeCodeExit } from "../runtime/code-runners.ts";
import type { InputRequests, InputRequired, InputRound } from "../runtime/handler-context.ts";
import { OpenEntries } from "../runtime/open-entries.ts";
import { TimeLimit } from "../runtime/time-limit.ts";
import { CodeExitError, type CodeOwner } from "../runtime/tool-code.ts";
import type { CallOptions, ToolLog } from "./call-listeners.ts";
import { type AskInput, answerRounds, askInScope, signRequests } from "./host-input.ts";
import type { SessionMemory } from "./session-memory.ts";
import { describeServerExit, type PlannedServer } from "./session-servers.ts";
import type { SessionState } from "./session-state.ts";
import type { ToolCandidate } from "./session-tool.ts";

/** For whom a call is executed: the session itself, or one of the clients that it is served to. */
export interface CallScope {
  sessionId: string;
  memory: SessionMemory;
  /** What entries of bundles see of the client's request. */
  request?: Pick<BundleRequest, "meta" | "session">;
  /** `json`: the arguments. */
  record(name: string, json: string): void;
  log(entry: ToolLog): void;
  /** Reports to the operator what a pack's author has to fix; `log` goes to a client. */
  reportFault?(message: string): void;
  /** Gets the JSON-RPC error of a bundle's entry, of which the result has the code and the data as details. */
  onError?(outcome: Extract<BundleOutcome, { error: unknown }>): void;
  /** Asks for input; `undefined` if the session has no user. */
  ask: AskInput | undefined;
  /** Resolves calls that ask as `InputRequired` all the same, and asks only for what they call, and while a server waits. */
  passesRounds?: boolean;
  /** What stands still while the user is asked: the time of the call, and of those around it. */
  limits?: readonly TimeLimit[];
}

/** What makes a call: the host or a client, or a call of a tool. */
export interface Caller {
  scope: CallScope;
  /** The state that the call uses until its end, also for nested calls. */
  state: SessionState;
  /** 0 for a call of the host, one more for each nested call. */
  depth: number;
  /** Whether to record the call if it succeeds. */
  recorded: boolean;
}

/** What stops one call, and what hears of it. */
export type OpenCallOptions = Omit<CallOptions, "signal"> & {
  signal?: Cancellation | undefined;
  /** What a client answers that the call asked in an earlier request. */
  round?: InputRound | undefined;
};

/** One open call. */
export interface OpenCall extends Caller {
  id: string;
  /** The tool that is called; `undefined` for a prompt or a resource. */
  tool?: ToolCandidate | undefined;
  stop: CallStop;
  limit: TimeLimit;
  requested: Requested;
  onProgress: CallOptions["onProgress"];
  onLog: CallOptions["onLog"];
}

/** What answers a request: the code of a pack, or a server. */
export type Answering = { by: "code"; owner: CodeOwner } | ({ by: "server" } & PlannedServer);

/** What is requested. */
export interface Requested {
  kind: "tool" | "prompt" | "resource";
  /** The advertised name, or the URI. */
  name: string;
  answering: Answering;
  tool?: ToolCandidate;
}

/** Who asks the questions of a request; `undefined` for the host's own code. */
const authorOf = (answering: Answering): string | undefined =>
  answering.by === "code"
    ? answering.owner.pack?.qualifiedName
    : (answering.plan.pack ?? answering.plan.label);

type Asking = { inputRequired: InputRequired };

/** An answer, or what is asked before there is one. */
export type Round<Answer> = Answer | Asking;

/** Why a call that was not canceled has failed: an exit, the end of its time, or the error in `cause`. */
export class CallFailure extends Error {
  /** Of an exit: what is known of it, with the output of the process, which is not for clients and models. */
  readonly exit: Readonly<Record<string, unknown>> | undefined;

  constructor(
    message: string,
    { exit, cause }: { exit?: Readonly<Record<string, unknown>>; cause?: unknown },
  ) {
    super(message, { cause });
    this.exit = exit;
  }
}

const describeLate = (kind: Requested["kind"], { ms }: TimeLimit) =>
  `The ${kind} did not answer within ${ms} ms.`;

/** The open calls of a session, and what all of them have in common. */
export class OpenCalls {
  readonly #runners: CodeRunners;
  readonly #closing: AbortSignal;
  readonly #open = new OpenEntries<string, OpenCall>();

  /** `closing` aborts when the session ends, with the error `SessionClosed`. */
  constructor(runners: CodeRunners, closing: AbortSignal) {
    this.#runners = runners;
    this.#closing = closing;
    whenAborted(closing, () => {
      for (const { stop } of this.#open.all()) stop.abort(closing.reason);
    });
  }

  /** Throws the reason why no call can begin. */
  throwIfClosed(signal: Cancellation | undefined): void {
    this.#closing.throwIfAborted();
    signal?.throwIfAborted();
  }

  find(id: string): OpenCall | undefined {
    return this.#open.find(id);
  }

  /**
   * Executes a call: `run` answers within its limits, or asks and is run again with the answers. Resolves with what it asks if
   * the questions are not answered here. Rejects with `CallFailure`, or with the reason of what cancels it.
   */
  async execute<Answer extends object>(
    asked: Requested,
    { scope: given, state, depth, recorded }: Caller,
    { signal, timeoutMs, round, onProgress, onLog }: OpenCallOptions,
    run: (call: OpenCall, round: InputRound | undefined) => Promise<Round<Answer>>,
  ): Promise<Round<Answer>> {
    const { kind, answering, tool } = asked;
    this.throwIfClosed(signal);
    const stop = new CallStop();
    const release = signal && whenAborted(signal, () => stop.abort(signal.reason));
    const limit = new TimeLimit(timeoutMs ?? state.config.timeouts.callMs, () =>
      stop.abort(new DOMException(describeLate(kind, limit), "TimeoutError")),
    );
    const scope: CallScope = { ...given, limits: [...(given.limits ?? []), limit] };
    const id = randomUUID();
    const call: OpenCall = {
      id,
      requested: asked,
      tool,
      scope,
      state,
      depth,
      recorded,
      stop,
      limit,
      onProgress,
      onLog,
    };
    this.#open.add(call);
    const server = answering.by === "server" ? answering.server : undefined;
    // Until its last round, in which it may ask the user.
    server?.beginRequest();
    const endCall = state.beginCall();
    try {
      const answer = await run(call, round);
      return "inputRequired" in answer ? await this.#ask<Answer>(call, answer, run) : answer;
    } catch (error) {
      throw this.#explain(error, asked, call);
    } finally {
      limit.end();
      this.#open.remove(call.id);
      server?.endRequest();
      endCall();
      release?.();
    }
  }

  /** Runs what asks again with the answers, or signs its questions for a client that answers with a new request. */
  async #ask<Answer extends object>(
    call: OpenCall,
    asking: Asking,
    run: (call: OpenCall, round: InputRound | undefined) => Promise<Round<Answer>>,
  ): Promise<Round<Answer>> {
    const { scope, stop, requested } = call;
    const author = authorOf(requested.answering);
    if (scope.passesRounds && call.depth === 0) {
      const { requests, ...state } = asking.inputRequired;
      return { inputRequired: { requests: signRequests(requests, author), ...state } };
    }
    const ask = askInScope({ tool: requested.name, author }, scope);
    const askAll = ask && ((requests: InputRequests) => ask(requests, stop.signal));
    return answerRounds<Answer>(asking, (next) => run(call, next), askAll);
  }

  /** What a call rejects with. */
  #explain(error: unknown, { kind, answering }: Requested, { stop, limit, scope }: OpenCall): unknown {
    if (error instanceof CallFailure) return error;
    // An exit may end the session; its own calls must report the exit and not the closed session.
    const isByCaller = stop.aborted && !this.#closing.aborted;
    if (answering.by === "server") {
      const exited = isByCaller ? undefined : answering.server.exit;
      const exit = error instanceof ServerCallError ? error.exit : exited;
      if (exit !== undefined) {
        const { exitCode, signal, reason, stderrTail: stderr } = exit;
        const details = { exitCode, signal, ...(reason && { reason }), stderr };
        return new CallFailure(describeServerExit(answering.plan.label, exit), { exit: details });
      }
    } else {
      const exited = isByCaller ? undefined : this.#runners.exitOf(answering.owner);
      const exit = error instanceof CodeExitError ? error : exited;
      if (exit !== undefined) {
        const { exitCode, signal } = exit;
        const { message, stderr } = describeCodeExit(exit, (text) => scope.memory.redact(text));
        return new CallFailure(message, { exit: { exitCode, signal, stderr } });
      }
    }
    if (limit.isOver) return new CallFailure(describeLate(kind, limit), {});
    if (stop.aborted) return stop.reason;
    return new CallFailure(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/** A request to a server. `name`: its own name for what is requested, or a URI. */
interface ServerRequest {
  kind: Requested["kind"];
  name: string;
  signal: Cancellation;
  /** They stand still while the server starts for the request, within its own timeouts. */
  limits?: readonly TimeLimit[] | undefined;
}

/**
 * The server that answers a request, which starts if it does not run.
 * Rejects with `CallFailure` if it has exited, with `TrailblazeError` `ServerStartFailed`, or `NotApproved` if the lock does not
 * approve what the server now lists by this name.
 */
export async function reachServer(
  { server, plan, approval }: PlannedServer,
  { kind, name, signal, limits = [] }: ServerRequest,
): Promise<ConnectedServer> {
  if (server.exit !== undefined)
    throw new CallFailure(describeServerExit(plan.label, server.exit), { exit: {} });
  let connected = server.current;
  if (connected === undefined) {
    let ends: (() => void)[] = [];
    try {
      connected = await abortable(signal, () => {
        const ready = server.start();
        // During a restart after an exit, a request waits within its own time.
        if (server.startsForRequests) ends = limits.map((limit) => limit.pause());
        return ready;
      });
    } finally {
      for (const end of ends) end();
    }
  }
  approval?.refuse(kind, name);
  return connected;
}

/** The same for a call, and how it is then requested. */
export async function reachForCall(
  planned: PlannedServer,
  call: OpenCall,
  name: string,
  round: InputRound | undefined,
): Promise<{ connected: ConnectedServer; how: ServerCallOptions }> {
  const { requested, stop: signal, limit, scope } = call;
  const { kind } = requested;
  const connected = await reachServer(planned, { kind, name, signal, limits: scope.limits });
  const ask = askInScope({ tool: requested.name, author: authorOf(requested.answering) }, scope, true);
  return { connected, how: { signal, limit, round, ask, user: scope.sessionId } };
}
