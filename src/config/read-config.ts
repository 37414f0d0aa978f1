import { basename, dirname, join, resolve } from "node:path";
import { describeType, isRecord } from "../data/parse-json.ts";
import { checkDefinition, normalizeDefinition } from "../extension-schema/check-definition.ts";
import { parseHandler } from "../extension-schema/references.ts";
import {
  type AnySchema,
  describeIssues,
  type Fault,
  parseShape,
  partsOf,
} from "../extension-schema/shape-faults.ts";
import { type InspectionPort, pathIn } from "../files/inspection-port.ts";
import {
  createProblem,
  failure,
  type Path,
  type Problem,
  quote,
  TrailblazeError,
} from "../problems/index.ts";
import { findNearestNames } from "../qualified-names/nearest-names.ts";
import { type ConfigText, locateInConfig, parseConfig, readProjectConfig } from "./config-file.ts";
import { sse, sseHint } from "./config-rules.ts";
import { config as configSchema, pastedServer } from "./config-schema.ts";
import { listServerEntries } from "./server-entries.ts";
import { type BuiltInDefinition, buildConfig, buildDevice, type ConfigSource } from "./session-config.ts";

export interface ConfigOptions {
  /** The project's folder: absolute, symbolic links followed. */
  directory: string;
  /** Path of a file, or a config as an object, in which handlers may be functions; default: the project's file. */
  config?: unknown;
  /** The base of a relative path; default: `directory`. */
  cwd?: string | undefined;
}

async function readFile(port: InspectionPort, project: string, path: string): Promise<ConfigSource> {
  // For problems: relative to the project if the file is inside it.
  const file = pathIn(project, path) ?? path;
  const fail = (reason: string) => failure("InvalidConfig", { reason }, { file });
  // Links to anywhere are allowed, because the user created them.
  const real = port.realPath(path);
  const read = real === undefined ? undefined : port.readFile(dirname(real), basename(real));
  if (read?.state === "tooLarge") throw fail(`it has ${read.bytes} bytes, which exceeds the limit`);
  if (read?.state === "unusable") throw fail(read.reason);
  if (read?.state !== "read") throw fail("the file does not exist");
  const text = await parseConfig(file, read.bytes);
  return { value: text.value, text, file: path, directory: dirname(path), project };
}

/** Reads and parses a session's config. Throws `TrailblazeError` `InvalidConfig` if it cannot be read. */
async function readSource(
  port: InspectionPort,
  { directory, config, cwd = directory }: ConfigOptions,
): Promise<ConfigSource> {
  if (typeof config === "string") return await readFile(port, directory, resolve(directory, cwd, config));
  if (config !== undefined && !isRecord(config)) {
    const reason = `expected a path or an object, found ${describeType(config)}`;
    throw failure("InvalidConfig", { reason });
  }
  const text = config === undefined ? await readProjectConfig(port, directory) : undefined;
  const file = text && join(directory, text.file);
  return { value: config ?? text?.value, text, file, directory, project: directory };
}

/** A fault in a config, with its path from the top. It is an error, unless it says otherwise. */
type ConfigFault = Fault & { severity?: "warning" };

/** Formats a path for people: `servers.mine.tools[0]`. */
function formatPath(path: Path): string {
  const parts = path.map((key) => {
    if (typeof key === "number") return `[${key}]`;
    return /^[\w-]{1,80}$/.test(key) ? `.${key}` : `[${quote(key)}]`;
  });
  return `\`${parts.join("").replace(/^\./, "")}\``;
}

function describeUnknownKey(path: Path, value: unknown, known: readonly string[]): ConfigFault {
  const owner = path.slice(0, -1);
  const key = String(path.at(-1));
  if (key === "type" && value === "sse") return { reason: `${formatPath(path)} ${sse}`, path, hint: sseHint };
  const where = owner.length === 0 ? "the config" : formatPath(owner);
  const [nearest] = findNearestNames(key, known);
  const hint = nearest && `Did you mean "${nearest}"?`;
  return { reason: `${where} has no key ${quote(key)}`, path, hint };
}

/** A key of a server that does nothing: one of clients, or of servers that are not reached by `way`. */
const describeUselessKey = (path: Path, way?: string): ConfigFault => ({
  reason: `${formatPath(path)} has no effect${way === undefined ? "" : ` on a server with \`${way}\``}`,
  path,
  hint: way === undefined ? "Remove it if no client reads this file." : "Remove it.",
  severity: "warning",
});

const uselessKeys = {
  command: ["bin", "headers"],
  package: ["headers"],
  url: ["args", "bin", "cwd", "env", "legacyContext"],
};

const findUselessKeys = (config: unknown): ConfigFault[] =>
  listServerEntries(config).flatMap(({ path, values }) =>
    Object.entries(uselessKeys).flatMap(([way, keys]) =>
      keys.flatMap((key) =>
        values[way] === undefined || values[key] === undefined ? [] : describeUselessKey([...path, key], way),
      ),
    ),
  );

/**
 * A copy of a value without what says nothing: custom keys, those of clients, and, except where users choose the keys, those
 * without a value, such as `packs:` in YAML. Adds a fault for what the schema does not know: zod would leave out `__proto__`
 * without a word.
 */
function clean(schema: AnySchema, value: unknown, faults: ConfigFault[], path: Path = []): unknown {
  const form = partsOf(schema).options?.at(-1) ?? schema;
  const { element, valueType, shape, catchall } = partsOf(form);
  if (element !== undefined && Array.isArray(value))
    return value.map((entry, index) => clean(element, entry, faults, [...path, index]));
  if (!isRecord(value) || (valueType === undefined && shape === undefined)) return value;
  const cleaned: Record<string, unknown> = {};
  for (const [key, entry] of Object.entries(value)) {
    const at = [...path, key];
    const isNothing = shape !== undefined && (entry === null || entry === undefined || key.startsWith("x-"));
    const inner = valueType ?? (Object.hasOwn(shape ?? {}, key) ? shape?.[key] : catchall);
    // Clients have an array of `tools`.
    const isOfClients =
      form === pastedServer && (inner === catchall || (key === "tools" && Array.isArray(entry)));
    if (isOfClients && !isNothing && key !== "__proto__") faults.push(describeUselessKey(at));
    else if (key === "__proto__" || (inner === undefined && !isNothing))
      faults.push(describeUnknownKey(at, entry, Object.keys(shape ?? {})));
    else if (inner !== undefined && !isNothing) cleaned[key] = clean(inner, entry, faults, at);
  }
  return cleaned;
}

/** Checks what a config says. `checked` has the defaults, and is `undefined` if a fault is an error. Pure. */
function check(value: unknown) {
  const written = value ?? {};
  if (!isRecord(written)) {
    const fault: ConfigFault = { reason: `expected an object, found ${describeType(written)}`, path: [] };
    return { checked: undefined, faults: [fault] };
  }
  const faults: ConfigFault[] = [];
  const cleaned = clean(configSchema, written, faults) as Record<string, unknown>;
  const { data: checked, error } = parseShape(configSchema, cleaned);
  // YAML reads some strings as something else. The hint omits the value, which may be a secret or differ from what was written.
  const style = { path: formatPath, word: (word: string) => word, scalarHint: "Put it in quotes." };
  faults.push(...describeIssues(error?.issues ?? [], cleaned, style));
  faults.push(...findBuiltInFaults(cleaned.builtIns), ...findUselessKeys(cleaned));
  const isValid = faults.every(({ severity }) => severity === "warning");
  return { checked: isValid ? checked : undefined, faults };
}

function explainInvalidCode(code: unknown): string | undefined {
  if (typeof code === "function") return undefined;
  if (typeof code !== "string") {
    // `$function` stands for a function in definitions alone.
    const type = isRecord(code) ? "an object" : describeType(code);
    return `must be ./module.js#export, but it is ${type}`;
  }
  const place = parseHandler(code);
  if ("fault" in place) return `is ${quote(code)}, which is not a module path: ${place.fault}`;
  return place.module === ".." || place.module.startsWith("../")
    ? `is ${quote(code)}, which is outside the project`
    : undefined;
}

/** Finds every fault in the user's tools. Handlers may be functions in configs that are passed as objects. */
function* findBuiltInFaults(list: unknown): Generator<ConfigFault> {
  for (const [index, definition] of Array.isArray(list) ? list.entries() : []) {
    const path = ["builtIns", index];
    const shown = formatPath(path);
    const written = isRecord(definition) ? definition : {};
    const present = ["handler", "initialize"].filter((key) => written[key] !== undefined);
    // Handlers are checked below; `checkDefinition` gets the placeholders that it accepts.
    const marks = Object.fromEntries(present.map((key) => [key, { $function: key }]));
    const content = written === definition ? { ...written, ...marks } : definition;
    for (const { code, args, hint, path: inside = [] } of checkDefinition("tool", content).problems)
      if (code === "InvalidToolDefinition")
        yield { reason: `${shown} is not valid: ${args.reason}`, path: [...path, ...inside], hint };
    for (const key of present) {
      const reason = explainInvalidCode(written[key]);
      const at = [...path, key];
      if (reason !== undefined) yield { reason: `${formatPath(at)} ${reason}`, path: at };
    }
    const { name } = written;
    if (typeof name === "string" && name.trim() !== "" && !/^[A-Za-z0-9_-]{1,64}$/.test(name)) {
      const hint = "Use 1 to 64 characters from A-Z, a-z, 0-9, _ and -.";
      yield { reason: `${shown} has the invalid name ${quote(name)}`, path: [...path, "name"], hint };
    }
  }
}

/** Converts faults to problems, in the order of the text. */
async function describeFaults(
  faults: readonly ConfigFault[],
  text: ConfigText | undefined,
): Promise<Problem[]> {
  const problems = faults.map(({ reason, hint, path, severity }) => {
    const problem = createProblem("InvalidConfig", { reason, hint }, { path });
    return severity === undefined ? problem : { ...problem, severity };
  });
  return (await locateInConfig(problems, text)).sort(
    (a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0),
  );
}

/** Throws the first of several errors. */
function refuse([first]: readonly Problem[]): void {
  if (first !== undefined) throw new TrailblazeError(first);
}

/** Throws the error about `packs` of a config, where `readPlainPolicy` refuses it. */
export async function refusePacks(text: ConfigText | undefined): Promise<never> {
  const { faults } = check(text?.value);
  const ofPacks = faults.filter(({ path: [key = "packs"] }) => key === "packs");
  refuse(await describeFaults(ofPacks, text));
  throw new Error("The two checks of `packs` disagree.");
}

/** Checks and normalizes the built-ins that a caller defines. Throws `TrailblazeError` `InvalidConfig` for the first error. */
export async function checkBuiltIns(definitions: readonly BuiltInDefinition[]): Promise<BuiltInDefinition[]> {
  refuse(await describeFaults([...findBuiltInFaults(definitions)], undefined));
  return definitions.map((one) => normalizeDefinition("tool", one));
}

/**
 * Reads a session's config with its defaults: the project's file, another file, or an object. Without a file, the config
 * is empty. With errors, all `InvalidConfig` with their places, it has no config.
 */
export async function loadConfig(port: InspectionPort, options: ConfigOptions) {
  try {
    const source = await readSource(port, options);
    const { checked, faults } = check(source.value);
    const problems = await describeFaults(faults, source.text);
    const errors = problems.filter(({ severity }) => severity === "error");
    return { config: checked && buildConfig(checked, source, problems), errors };
  } catch (error) {
    if (error instanceof TrailblazeError) return { config: undefined, errors: [error.problem] };
    throw error;
  }
}

/** The same. Throws `TrailblazeError` `InvalidConfig` for the first error, with its place. */
export async function readConfig(port: InspectionPort, options: ConfigOptions) {
  const { config, errors } = await loadConfig(port, options);
  refuse(errors);
  if (config === undefined) throw new Error("The config violates its schema without a problem.");
  return config;
}

/** The device and the memory of settings that are no file. Throws `TrailblazeError` `InvalidArguments`. */
export function readSettings(settings: Readonly<Record<string, unknown>>) {
  const { checked, faults } = check(settings);
  if (checked === undefined) throw failure("InvalidArguments", { reason: faults[0]?.reason ?? "" });
  return { device: buildDevice(checked.device), memory: new Map(Object.entries(checked.memory)) };
}

/** The tools and servers that a project's config defines. Throws as `readConfig`. */
export async function listConfigItems(port: InspectionPort, directory: string) {
  const config = await readConfig(port, { directory });
  const describe = (kind: "tool" | "server", name: string, description: unknown = null) => ({
    kind,
    name,
    description: typeof description === "string" ? description : null,
  });
  return [
    ...config.builtIns.map(({ name, description }) => describe("tool", String(name), description)),
    ...[...config.servers, ...config.subprocessServers].map(({ name }) => describe("server", name)),
  ];
}
