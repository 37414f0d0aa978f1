import { realpathSync } from "node:fs";
import { isRecord, maximumDepth, parseJson } from "../data/parse-json.ts";
import { formatSize, printable } from "../problems/text.ts";
import { failure } from "../problems/trailblaze-error.ts";
import { findReadGrants, isInside } from "./confined-grants.ts";
import { type Position, positionInStack, positionOfCaret } from "./confined-positions.ts";
import { findPermissionOption, findSyntaxError, type Method, methodsFor } from "./confined-process.ts";
import { type Answer, type ChildEnd, type RunOptions, type RunResult, runConfined } from "./confined-run.ts";
import type {
  Confinement,
  EvaluatedFile,
  Evaluation,
  EvaluationPort,
  EvaluationRequest,
} from "./evaluation-port.ts";

export interface Limits {
  /** Wall time of a child, in ms. */
  wallMs: number;
  /** Wall time of a pack, all its children together, in ms. */
  packMs: number;
  /** Children after the first that a pack may have. */
  restarts: number;
  heapMiB: number;
  answerBytes: number;
  /** For the answers of all files of a child. */
  packAnswerBytes: number;
}

const defaultLimits: Limits = {
  wallMs: 5000,
  packMs: 15_000,
  restarts: 6,
  heapMiB: 256,
  answerBytes: 1 << 20,
  packAnswerBytes: 16 << 20,
};

/** What Node needs beside the heap, in MiB: resident, and as private memory, most of which it only reserves. */
const residentBesideHeap = 128;
const dataBesideHeap = 768;

export interface ConfinedEvaluatorOptions {
  /** Rather evaluate nothing than without the permission model. */
  requireConfinement?: boolean;
  limits?: Partial<Limits>;
  /** Ways to start a child, strictest first. For tests; default: those of this system. */
  methods?: readonly Method[];
}

/** What this process has found out: the ways to start a child that work here, and how Node calls its option. */
const learnt: { methods: readonly Method[]; permissionOption: string | null | undefined } = {
  methods: methodsFor(process.platform),
  permissionOption: undefined,
};

function permissionOption(): string | undefined {
  if (learnt.permissionOption === undefined) learnt.permissionOption = findPermissionOption() ?? null;
  return learnt.permissionOption ?? undefined;
}

function confinementOf(method: Method, permission: string | undefined): Confinement {
  if (permission === undefined) return "none";
  return method === "shell" || method === "bare" ? "permission" : "permission+netns";
}

/** Signals that V8 ends with when it gets no memory, or that its process gets for it. */
const memorySignals: ReadonlySet<string> = new Set([
  "SIGABRT",
  "SIGSEGV",
  "SIGTRAP",
  "SIGILL",
  "SIGBUS",
  "SIGKILL",
]);
/** What Windows has in place of those. */
const abortExitCode = 134;
/** Node's own exit code for a module whose top-level `await` never ends. */
const unsettledAwait = 13;
/** The child program's, where the pack has taken away its way to answer. */
const answerLost = 98;

function describeEnd(end: ChildEnd, limits: Limits): string {
  const outOfMemory = `it needed more than ${limits.heapMiB} MiB of memory`;
  switch (end.cause) {
    case "time":
      return `it took longer than ${limits.wallMs / 1000} s`;
    case "memory":
      return outOfMemory;
    case "answer":
      return `its answer is larger than ${formatSize(limits.answerBytes)}`;
    case "answers":
      return `the answers of the pack's files are together larger than ${formatSize(limits.packAnswerBytes)}`;
    case "exit":
      if (end.code === abortExitCode || memorySignals.has(end.signal ?? "")) return outOfMemory;
      if (end.signal !== null) return `its process was terminated by ${end.signal}`;
      if (end.code === unsettledAwait) return "its top-level await never ends";
      if (end.code === answerLost) return "it left no way to answer";
      return `it ended the process (exit code ${end.code})`;
    default:
      return "no process could be started for it";
  }
}

const notReached = "it was not evaluated, because other files of the pack ended the process or took too long";

/** At most 200 characters, all of which print. */
function shorten(text: string): string {
  const characters = [...printable(text)];
  return characters.length > 200 ? `${characters.slice(0, 199).join("")}…` : characters.join("");
}

/** Names of functions come from the pack; what it cannot have made up is the marker itself. */
function finishMarkers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(finishMarkers);
  if (!isRecord(value)) return value;
  if (typeof value.$function === "string") return { $function: shorten(value.$function) || "anonymous" };
  for (const key of Object.keys(value)) {
    const member = value[key];
    if (typeof member === "object" && member !== null) value[key] = finishMarkers(member);
  }
  return value;
}

/** Finds where a file's syntax is wrong; `undefined` where it is not, or nobody can tell. */
type SyntaxCheck = (file: string) => Promise<Position | undefined>;

/** Where a module is missing, Node adds who wanted it, which the problem says already if it is the definition itself. */
function withoutImporter(message: string, file: string): string {
  if (!message.startsWith("Cannot find ")) return message;
  const [first = ""] = message.split("\nRequire stack:");
  const importer = ` imported from ${file}`;
  return first.endsWith(importer) ? first.slice(0, -importer.length) : first;
}

const missingPackagePattern = /Cannot find (?:package|module) '((?:@[\w.~-]+\/)?\w[\w.~-]*)(?:\/[\w.~/-]*)?'/;

/** Words and place for something that was thrown. All of it is what the pack makes of it. */
async function describeThrown(
  fault: { message: string; stack: string; isSyntaxError: boolean },
  file: string,
  checkSyntax: SyntaxCheck,
): Promise<EvaluatedFile> {
  const message = shorten(withoutImporter(fault.message, file));
  const threw = message === "" ? "it threw an error without a message" : `it threw: ${message}`;
  const caret = positionOfCaret(fault.stack, file);
  const position = caret ?? positionInStack(fault.stack, file);
  // Linking fails with a SyntaxError too, of which nothing but the message tells.
  if (!fault.isSyntaxError || message.startsWith("The requested module"))
    return { reason: threw, missingPackage: missingPackagePattern.exec(message)?.[1], ...position };
  // Of a module, Node tells the place only in what it prints, so it has to be asked again.
  const wrong = caret ?? (position === undefined ? await checkSyntax(file) : undefined);
  if (wrong === undefined) return { reason: threw, ...position };
  return { reason: `it is not valid JavaScript: ${message}`, ...wrong };
}

async function describeFault(
  json: Uint8Array,
  file: string,
  limits: Limits,
  checkSyntax: SyntaxCheck,
): Promise<EvaluatedFile> {
  const { value } = parseJson(json);
  const fault = isRecord(value) ? value : {};
  const text = (key: string): string => (typeof fault[key] === "string" ? fault[key] : "");
  switch (fault.kind) {
    case "noDefault":
      return { reason: "it has no default export" };
    case "tooLarge":
      return { reason: `its answer is larger than ${formatSize(limits.answerBytes)}` };
    case "tooDeep":
      return { reason: `it is not data: it nests deeper than ${maximumDepth} levels` };
    case "notData":
      return { reason: `it is not data: ${shorten(text("what"))}` };
    default: {
      const isSyntaxError = fault.isSyntaxError === true;
      return describeThrown(
        { message: text("message"), stack: text("stack"), isSyntaxError },
        file,
        checkSyntax,
      );
    }
  }
}

/** How often a pack's files are parsed once more, each in a process, to find where their syntax is wrong. */
const maximumChecks = 8;

function readAnswers(
  answers: readonly Answer[],
  files: readonly string[],
  limits: Limits,
): Promise<EvaluatedFile[]> {
  let checks = 0;
  const checkSyntax: SyntaxCheck = async (file) =>
    checks++ < maximumChecks ? findSyntaxError(file) : undefined;
  return Promise.all(
    answers.map(async ({ kind, json }, index) => {
      try {
        if (kind === "value") return { value: finishMarkers(parseJson(json).value) };
        return await describeFault(json, files[index] ?? "", limits, checkSyntax);
      } catch {
        return { reason: "its answer cannot be read" };
      }
    }),
  );
}

/** Starts a child in the strictest way that works here. */
async function runStrictest(
  methods: readonly Method[],
  options: Omit<RunOptions, "method">,
): Promise<{ method: Method | undefined; result: RunResult }> {
  let last: RunResult = { answers: [], end: { cause: "notStarted", isLasting: false } };
  for (const method of methods) {
    const result = await runConfined({ ...options, method });
    if (result.end.cause !== "notStarted") return { method, result };
    last = result;
    // A way that does not work would cost its attempt each time. Packs have no say in whether it does.
    if (result.end.isLasting && method !== "bare") {
      learnt.methods = learnt.methods.filter((known) => known !== method);
    }
  }
  return { method: undefined, result: last };
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

/** Why a file cannot be evaluated at all; `undefined` where it can. `path` is its real path. */
function findObstacle(root: string | undefined, path: string | undefined): string | undefined {
  if (root === undefined || path === undefined) return "it cannot be found";
  if (!isInside(root, path)) return "it lies outside the package once links are followed";
  // Node's permission model would take it for a wildcard.
  return root.includes("*") ? "its path contains a *" : undefined;
}

const weakness: readonly Confinement[] = ["data", "permission+netns", "permission", "none"];

const weaker = (one: Confinement, other: Confinement): Confinement =>
  weakness.indexOf(one) > weakness.indexOf(other) ? one : other;

async function evaluate(
  { packageRoot, files }: EvaluationRequest,
  limits: Limits,
  methods: readonly Method[] | undefined,
): Promise<Evaluation> {
  const results = new Map<string, EvaluatedFile>();
  const root = realPath(packageRoot);
  const paths = new Map<string, string>();
  for (const file of files) {
    const path = realPath(file);
    const obstacle = findObstacle(root, path);
    if (obstacle !== undefined) results.set(file, { reason: obstacle });
    else if (path !== undefined) paths.set(file, path);
  }

  const permission = permissionOption();
  const nothing = { readable: [], absent: [], visible: [] };
  const grants = root !== undefined && paths.size > 0 ? findReadGrants(root) : nothing;
  const deadline = performance.now() + limits.packMs;
  let confinement: Confinement = "data";
  let pending = [...paths.keys()];
  for (let restarts = 0; pending.length > 0; restarts++) {
    const left = Math.min(limits.wallMs, deadline - performance.now());
    if (restarts > limits.restarts || left <= 0) {
      for (const file of pending) results.set(file, { reason: notReached });
      break;
    }
    const asked = pending.map((file) => paths.get(file) ?? file);
    const { method, result } = await runStrictest(methods ?? learnt.methods, {
      files: asked,
      permissionOption: permission,
      grants,
      heapMiB: limits.heapMiB,
      residentMiB: limits.heapMiB + residentBesideHeap,
      dataMiB: limits.heapMiB + dataBesideHeap,
      wallMs: left,
      answerBytes: limits.answerBytes,
      totalBytes: limits.packAnswerBytes,
    });
    if (method !== undefined) confinement = weaker(confinement, confinementOf(method, permission));

    const read = await readAnswers(result.answers, asked, limits);
    for (const [index, answer] of read.entries()) results.set(pending[index] ?? "", answer);
    pending = pending.slice(read.length);
    // What ended the child may have been left behind by a file before. Alone at the beginning, it is the one.
    const [first] = pending;
    if (first === undefined || (read.length > 0 && method !== undefined)) continue;
    const reason = describeEnd(result.end, limits);
    for (const file of method === undefined ? pending : [first]) results.set(file, { reason });
    pending = method === undefined ? [] : pending.slice(1);
  }
  return { confinement, results };
}

/**
 * Evaluates definition files in confined children of this process, one a pack. Works at trust level 2: no code of a
 * pack runs here.
 */
export function createConfinedEvaluator(options: ConfinedEvaluatorOptions = {}): EvaluationPort {
  const limits = { ...defaultLimits, ...options.limits };
  return {
    async evaluate(request) {
      if (options.requireConfinement && request.files.length > 0 && permissionOption() === undefined) {
        throw failure("ConfinementUnavailable", { required: true });
      }
      return evaluate(request, limits, options.methods);
    },
  };
}
