import { createRequire } from "node:module";
import { Writable } from "node:stream";
import { inspect } from "node:util";
import { isHttpUrl, shapeOf } from "../../../src/runtime/input-shapes.ts";
import { checkProgress, toLogData } from "../../../src/runtime/returned-value.mjs";
import { clientFrom } from "./client.ts";
import { contextFrom, isObject, type TrailblazeCall } from "./context.ts";
import type { LogLevel, SessionMemory, ToolContext } from "./handlers.ts";
import type { InputAnswer, InputAnswers, InputRequest, NeededInput } from "./input.ts";
import { type CallToolResult, error } from "./result.ts";
import {
  type AnyTool,
  defaultOptionsOf,
  fillDefaults,
  handlerOf,
  inputSchemaOf,
  runHandler,
  withoutContext,
} from "./run-tool.ts";

/** The argument of `run`: a server and its tools. */
export interface ServerOfTools {
  /** The server's name for clients. */
  name: string;
  version: string;
  /** Results of `defineTool`, or definitions whose handlers are functions. */
  tools: readonly AnyTool[];
}

/** How long open calls may take after the client has disconnected. Milliseconds. */
const graceMs = 1000;

/** How long a user may take to answer a question. Milliseconds. */
const answerMs = 10 * 60_000;

/** How often a handler may ask in one call. */
const mostRounds = 8;

/** Why a value does not match a schema, with the place; `undefined` if it does. Throws if the schema is not valid. */
type Check = (schema: object, value: unknown) => string | undefined;

/** The part of Ajv that is used here. */
interface Ajv {
  compile(schema: object): { (value: unknown): unknown; errors?: object[] | null };
  errorsText(errors: object[] | null | undefined, form: { separator: string; dataVar: string }): string;
}

/** Checks with the SDK's own Ajv as the host does: JSON Schema 2020-12 or draft-07, `format` is only an annotation. */
function createCheck(): Check {
  const require = createRequire(import.meta.resolve("@modelcontextprotocol/sdk/validation/ajv"));
  const load = (name: string): Ajv =>
    new (require(name) as { default: new (options: object) => Ajv }).default({
      strict: false,
      validateFormats: false,
      validateSchema: false,
      allErrors: true,
    });
  const [draft07, draft2020] = [load("ajv"), load("ajv/dist/2020.js")];
  const compiled = new WeakMap<object, ReturnType<Ajv["compile"]>>();
  return (schema, value) => {
    // Ajv rejects unknown drafts and repeated ids.
    const { $schema, $id: _, ...unnamed } = schema as { $schema?: unknown; $id?: unknown };
    const ajv = /\/draft-0[467]\//.test(String($schema)) ? draft07 : draft2020;
    let validate = compiled.get(schema);
    try {
      validate ??= ajv.compile(unnamed);
    } catch (thrown) {
      throw new Error(`the schema is not valid: ${(thrown as Error).message}`);
    }
    compiled.set(schema, validate);
    return validate(value)
      ? undefined
      : ajv.errorsText(validate.errors, { separator: "; ", dataVar: "" }).trim();
  };
}

/** What a call needs from its server. */
interface CallServices {
  signal: AbortSignal;
  check: Check;
  log(level: LogLevel, data: unknown): Promise<void>;
  progress(step: { progress: number; total?: number; message?: string }): Promise<void>;
  /** What the client can do. */
  capabilities: Readonly<Record<string, unknown>>;
  /** Sends a request to the client. Rejects if the client answers with an error, or not in time. */
  send(request: { method: string; params: object }): Promise<Readonly<Record<string, unknown>>>;
}

/** Why a request cannot be asked, whatever the client can do; `undefined` if it can. */
function findRequestFault(key: string, request: unknown, check: Check): string | undefined {
  const fault = check(shapeOf(request), { [key]: request });
  if (fault !== undefined) return fault;
  const { url, schema } = request as { url?: string; schema?: object };
  if (url !== undefined) return isHttpUrl(url) ? undefined : `/${key}/url must be an http or https URL`;
  try {
    if (schema !== undefined) check(schema, {});
    return undefined;
  } catch (thrown) {
    return `/${key}/schema: ${(thrown as Error).message}`;
  }
}

function canAsk(request: InputRequest, { capabilities }: CallServices): boolean {
  if ("method" in request) return isObject(capabilities[request.method.split("/", 1)[0] ?? ""]);
  const { elicitation } = capabilities;
  // Before there were modes, there were only forms.
  return (
    isObject(elicitation) &&
    ("url" in request ? isObject(elicitation.url) : isObject(elicitation.form) || !isObject(elicitation.url))
  );
}

async function askOne(request: InputRequest, { send, signal, check }: CallServices): Promise<InputAnswer> {
  try {
    if ("method" in request) return { action: "accept", content: await send({ params: {}, ...request }) };
    const { message } = request;
    const params =
      "url" in request
        ? { mode: "url", message, url: request.url, elicitationId: crypto.randomUUID() }
        : { message, requestedSchema: request.schema };
    const { action, content = {} } = await send({ method: "elicitation/create", params });
    if (action === "cancel") return { action };
    if (action !== "accept") return { action: "decline" };
    if ("url" in request) return { action };
    const fits = isObject(content) && check(request.schema, content) === undefined;
    return fits ? { action, content } : { action: "decline" };
  } catch {
    signal.throwIfAborted();
    return { action: "cancel" };
  }
}

/** Asks the client one question at a time. Returns a result if it cannot be asked. Rejects if the call is canceled. */
async function askClient(
  { name }: AnyTool,
  { requests }: NeededInput,
  services: CallServices,
): Promise<{ input: InputAnswers } | { refusal: CallToolResult }> {
  const entries = Object.entries(isObject(requests) ? requests : {});
  const [fault] =
    entries.length === 0
      ? ["there is no request"]
      : entries.flatMap(([key, request]) => findRequestFault(key, request, services.check) ?? []);
  if (fault !== undefined) {
    const message = `The handler asks for input with an invalid request: ${fault}.`;
    process.stderr.write(`${name}: ${message}\n`);
    return { refusal: error(message) };
  }
  if (!entries.every(([, request]) => canAsk(request, services))) {
    const texts = entries.map(([key, one]) => `${key}: ${"method" in one ? one.method : one.message}`);
    const message = `The tool needs input, but this client cannot be asked. ${texts.join("; ")}`;
    return { refusal: error(message) };
  }
  const input: Record<string, InputAnswer> = {};
  for (const [key, request] of entries) input[key] = await askOne(request, services);
  return { input };
}

/** A call's view of the session's memory: a copy of the values sent with the call, with its own writes. */
class CallMemory implements SessionMemory {
  readonly #values: Map<string, unknown>;
  readonly #written = new Map<string, string | undefined>();

  constructor(values: Readonly<Record<string, unknown>>) {
    this.#values = new Map(Object.entries(values));
  }

  get(name: string): unknown {
    return this.#values.get(name);
  }

  set(name: string, value: string): void {
    if (typeof name !== "string" || typeof value !== "string")
      throw new TypeError("Keys and values of memory must be strings.");
    this.#values.set(name, value);
    this.#written.set(name, value);
  }

  delete(name: string): boolean {
    this.#written.set(name, undefined);
    return this.#values.delete(name);
  }

  /** Adds the writes to the metadata of a successful result, under those that the handler itself set there. */
  writeBack(result: CallToolResult): CallToolResult {
    if (result.isError === true || this.#written.size === 0) return result;
    const said: unknown = result._meta?.trailblaze;
    const { memoryDelta, memoryDeletions, ...details } = isObject(said)
      ? said
      : ({} as Record<string, unknown>);
    const delta = new Map(Object.entries(isObject(memoryDelta) ? memoryDelta : {}));
    const deletions = new Set<unknown>(Array.isArray(memoryDeletions) ? memoryDeletions : []);
    for (const [name, value] of this.#written) {
      if (delta.has(name) || deletions.has(name)) continue;
      if (value === undefined) deletions.add(name);
      else delta.set(name, value);
    }
    const writes = { memoryDelta: Object.fromEntries(delta), memoryDeletions: [...deletions] };
    return { ...result, _meta: { ...result._meta, trailblaze: { ...details, ...writes } as never } };
  }
}

/** The context of a handler. After `isOver` returns true, the context no longer reaches the host. */
function createContext(
  tool: AnyTool,
  { signal, log, progress }: CallServices,
  call: TrailblazeCall | undefined,
  memory: CallMemory,
  round: { input?: InputAnswers; state?: unknown },
  isOver: () => boolean,
): ToolContext {
  const client = clientFrom(call, { signal });
  const ignore = () => {};
  return Object.freeze({
    signal,
    options: defaultOptionsOf(tool),
    log: (level: LogLevel, data: unknown) => {
      if (!isOver()) log(level, toLogData(data)).catch(ignore);
    },
    progress: async (progress_: number, total?: number, message?: string) => {
      checkProgress(progress_, total, message);
      if (!isOver()) await progress({ progress: progress_, total, message }).catch(ignore);
    },
    callTool: client.callTool,
    client,
    ...round,
    ...(call === undefined ? {} : { device: call.device, memory }),
    ...(call?.sessionId === undefined ? {} : { sessionId: call.sessionId }),
    ...(call?.invocationId === undefined ? {} : { invocationId: call.invocationId }),
  });
}

/** The schema of a tool's `structuredContent`; an empty one is as none. */
const outputSchemaOf = ({ outputSchema }: AnyTool) =>
  outputSchema === undefined || Object.keys(outputSchema).length === 0 ? undefined : outputSchema;

function checkOutput(tool: AnyTool, result: CallToolResult, check: Check): CallToolResult {
  const outputSchema = outputSchemaOf(tool);
  if (outputSchema === undefined || result.isError === true) return result;
  if (result.structuredContent === undefined)
    return error("The tool has an outputSchema, but its result has no structuredContent.");
  const fault = check(outputSchema, result.structuredContent);
  return fault === undefined
    ? result
    : error(`The tool's structuredContent does not match its outputSchema: ${fault}`);
}

/**
 * Executes a `tools/call`: checks the arguments, runs the handler, again from its beginning after each round of questions, and
 * returns its writes to memory.
 */
async function callTool(
  tool: AnyTool,
  schema: object,
  params: { arguments?: Record<string, unknown> | undefined; _meta?: Record<string, unknown> | undefined },
  services: CallServices,
): Promise<CallToolResult> {
  const given = params.arguments ?? {};
  const call = contextFrom(given, params);
  const args = fillDefaults(schema, withoutContext(given)) as Record<string, unknown>;
  const fault = services.check(schema, args);
  if (fault !== undefined) return error(`Invalid arguments for ${JSON.stringify(tool.name)}: ${fault}`);
  const envelope = call && { memory: call.memory, device: call.device };
  let round: { input?: InputAnswers; state?: unknown } = {};
  for (let rounds = 0; ; rounds++) {
    const memory = new CallMemory(call?.memory ?? {});
    let isOver = false;
    const context = createContext(tool, services, call, memory, round, () => isOver);
    const { result, question } = await runHandler(tool, structuredClone(args), context, envelope);
    isOver = true;
    if (question === undefined) return memory.writeBack(checkOutput(tool, result, services.check));
    if (rounds === mostRounds) return error(`The tool asked for input more than ${mostRounds} times.`);
    const asked = await askClient(tool, question, services);
    if ("refusal" in asked) return asked.refusal;
    round = { ...asked, ...(question.state === undefined ? {} : { state: question.state }) };
  }
}

/** The tools by name, with their schemas. */
function indexTools(tools: readonly AnyTool[]) {
  const byName = new Map<string, { tool: AnyTool; schema: ReturnType<typeof inputSchemaOf> }>();
  for (const tool of tools) {
    handlerOf(tool);
    if (byName.has(tool.name)) throw new Error(`Two tools have the name ${JSON.stringify(tool.name)}.`);
    byName.set(tool.name, { tool, schema: inputSchemaOf(tool) });
  }
  return byName;
}

/** Reserves stdout for the protocol: the rest goes to stderr. Does not cover descriptor 1 and children that inherit it. */
function reserveStdout({ stdout, stderr }: NodeJS.Process): Writable {
  const write = stdout.write.bind(stdout) as Writable["write"];
  stdout.write = stderr.write.bind(stderr) as Writable["write"];
  stdout.end = () => stdout;
  // A closed reader must not end the process; the end of the input does.
  for (const stream of [stdout, stderr]) stream.on("error", () => {});
  return new Writable({
    decodeStrings: false,
    write: (chunk: string, _encoding, done) => void write(chunk, "utf8", done),
  });
}

/** Reports late errors of handlers on stderr, which would otherwise end the process; under a host, they do not. */
function outliveLateErrors(): void {
  if (process.listenerCount("uncaughtException") > 0) return;
  process.on("uncaughtException", (thrown) => {
    process.stderr.write(`Uncaught error after a call has ended: ${inspect(thrown)}\n`);
  });
}

/**
 * Turns the running file into an MCP server over stdio: a subprocess server with the session's context under
 * Trailblaze, a standard server under other MCP clients. Everything that is printed goes to stderr. Resolves when the
 * client has disconnected, and then ends the process. Requires `@modelcontextprotocol/sdk`. Rejects if that is missing
 * or a definition is invalid.
 */
export async function run({ name, version, tools }: ServerOfTools): Promise<void> {
  // First, because the SDK or a tool may print when it is loaded.
  const stdout = reserveStdout(process);
  const byName = indexTools(tools);
  const [{ Server }, { StdioServerTransport }, types] = await Promise.all([
    import("@modelcontextprotocol/sdk/server/index.js"),
    import("@modelcontextprotocol/sdk/server/stdio.js"),
    import("@modelcontextprotocol/sdk/types.js"),
  ]);
  const check = createCheck();
  const server = new Server({ name, version }, { capabilities: { tools: {}, logging: {} } });
  const underWay = new Set<Promise<unknown>>();

  server.setRequestHandler(types.ListToolsRequestSchema, () => ({
    tools: [...byName.values()].flatMap(({ tool, schema: inputSchema }) => {
      const { name, title, description, annotations, _meta } = tool;
      const outputSchema = outputSchemaOf(tool);
      // Tools that require a session are hidden from clients without one.
      const isHidden = _meta?.["trailblaze/requiresContext"] === true && !process.env.TRAILBLAZE_SESSION_ID;
      return isHidden ? [] : [{ name, title, description, inputSchema, outputSchema, annotations, _meta }];
    }),
  }));
  server.setRequestHandler(types.CallToolRequestSchema, async ({ params }, extra) => {
    const entry = byName.get(params.name);
    if (entry === undefined)
      throw new types.McpError(types.ErrorCode.InvalidParams, `Unknown tool: ${params.name}`);
    const { signal } = extra;
    const { progressToken } = params._meta ?? {};
    const { tool, schema } = entry;
    const call = callTool(tool, schema, params, {
      signal,
      check,
      capabilities: server.getClientCapabilities() ?? {},
      send: (request) =>
        extra.sendRequest(request as never, types.ResultSchema, { timeout: answerMs, signal }),
      log: (level, data) => server.sendLoggingMessage({ level, logger: name, data }),
      progress: async (step) => {
        if (progressToken === undefined) return;
        await extra.sendNotification({
          method: "notifications/progress",
          params: { progressToken, ...step },
        });
      },
    }).catch((thrown: Error) =>
      error(`The tool ${JSON.stringify(tool.name)} cannot be used: ${thrown.message}`),
    );
    underWay.add(call);
    const { structuredContent, ...result } = await call.finally(() => underWay.delete(call));
    // Clients of this era of MCP accept only an object.
    return isObject(structuredContent) ? { ...result, structuredContent } : result;
  });

  const isOver = new Promise<void>((resolve) => {
    process.stdin.once("end", resolve).once("close", resolve);
    server.onclose = resolve;
  });
  await server.connect(new StdioServerTransport(process.stdin, stdout));
  outliveLateErrors();
  await isOver;
  const grace = new Promise<void>((resolve) => void setTimeout(resolve, graceMs).unref());
  await Promise.race([Promise.allSettled(underWay), grace]);
  await server.close();
  // Timers and connections of a handler must not keep the process running.
  setTimeout(() => process.exit(), graceMs).unref();
}
