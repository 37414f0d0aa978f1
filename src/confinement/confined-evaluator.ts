import { isRecord, parseJson } from "../data/parse-json.ts";
import { isBelow, realPathOf } from "../files/node-inspection-port.ts";
import { formatSize, printable } from "../problems/text.ts";
import { failure } from "../problems/trailblaze-error.ts";
import {
  type Answer,
  type ChildEnd,
  chooseLauncher,
  findReadable,
  findSyntaxError,
  isolatesNetwork,
  type Position,
  permissionOption,
  positionInStack,
  positionOfCaret,
  runConfined,
} from "./confined-process.ts";
import type { EvaluatedFile, Evaluation, EvaluationPort, EvaluationRequest } from "./evaluation-port.ts";

export interface Limits {
  /** Wall time of a child, in milliseconds. */
  wallMs: number;
  /** Wall time of all children of a pack combined, in milliseconds. */
  packMs: number;
  /** How many further children a pack may have. */
  restarts: number;
  heapMiB: number;
  answerBytes: number;
  /** The limit for the answers of all files of a child, in bytes. */
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

export interface ConfinedEvaluatorOptions {
  /** Rejects if the permission model is not available. */
  requireConfinement?: boolean;
  limits?: Partial<Limits>;
  /** Kills the child processes; the remaining files get a reason. */
  signal?: AbortSignal;
  /** Keeps the network namespace of the host, as on systems without others. Set in tests. */
  hasNetwork?: boolean;
}

/** Signals that end a process that runs out of memory. */
const memorySignals: ReadonlySet<string> = new Set([
  "SIGABRT",
  "SIGSEGV",
  "SIGTRAP",
  "SIGILL",
  "SIGBUS",
  "SIGKILL",
]);
/** The exit code for the same on Windows. */
const abortExitCode = 134;
/** Node's exit code for a top-level `await` that never settles. */
const unsettledAwait = 13;
/** The child program's exit code when the pack has closed the pipe for answers. */
const answerLost = 98;

const describeTooLarge = ({ answerBytes }: Limits) => `its result is larger than ${formatSize(answerBytes)}`;

function describeEnd(end: ChildEnd, limits: Limits): string {
  const outOfMemory = `it needed more than ${limits.heapMiB} MiB of memory`;
  switch (end.cause) {
    case "time":
      return `it took longer than ${limits.wallMs / 1000} s`;
    case "aborted":
      return interrupted;
    case "answer":
      return describeTooLarge(limits);
    case "answers":
      return `the results of the pack's files are larger than ${formatSize(limits.packAnswerBytes)} in total`;
    case "exit":
      if (end.code === abortExitCode || memorySignals.has(end.signal ?? "")) return outOfMemory;
      if (end.signal !== null) return `its process was terminated by ${end.signal}`;
      if (end.code === unsettledAwait) return "its top-level await never settles";
      if (end.code === answerLost) return "it closed the pipe for its result";
      return `it ended the process (exit code ${end.code})`;
    default:
      return "its process could not be started";
  }
}

const interrupted = "it was interrupted";
const notReached = "it was not evaluated, because other files of the pack ended the process or took too long";

/** At most so many printable characters. */
function shorten(text: string, limit = 200): string {
  const characters = [...printable(text)];
  return characters.length > limit ? `${characters.slice(0, limit - 1).join("")}…` : characters.join("");
}

/** Cleans up names of functions, which come from the pack; it cannot forge the marker itself. */
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

/** Removes the importer that Node adds for a missing module, if it is the definition itself. */
function withoutImporter(message: string, file: string): string {
  if (!message.startsWith("Cannot find ")) return message;
  const [first = ""] = message.split("\nRequire stack:");
  const importer = ` imported from ${file}`;
  return first.endsWith(importer) ? first.slice(0, -importer.length) : first;
}

const missingPackagePattern = /Cannot find (?:package|module) '((?:@[\w.~-]+\/)?\w[\w.~-]*)(?:\/[\w.~/-]*)?'/;

/** Node's messages for a file in the wrong format; the rest of the first one names a path of this machine. */
const usesCommonJs = /^((?:module|exports|require|__dirname|__filename) is not defined in ES module scope)/;
const usesEsModule =
  /^(?:Cannot use import statement outside a module|Unexpected token 'export'|Cannot use 'import\.meta')/;

/** The reason and the position for a file without a value; the pack controls both. `findWrong` finds a syntax error. */
async function describeFault(
  fault: Readonly<Record<string, unknown>>,
  file: string,
  findWrong: (file: string) => Promise<Position | undefined>,
): Promise<EvaluatedFile> {
  const text = (key: string): string => (typeof fault[key] === "string" ? fault[key] : "");
  if (typeof fault.reason === "string") return { reason: shorten(fault.reason, 220) };
  const [, commonJs] = usesCommonJs.exec(text("message")) ?? [];
  const message = commonJs ?? shorten(withoutImporter(text("message"), file));
  const threw = message === "" ? "it threw an error without a message" : `it threw: ${message}`;
  const caret = positionOfCaret(text("stack"), file);
  const position = caret ?? positionInStack(text("stack"), file);
  // A failed link is a SyntaxError, too, and differs only in its message.
  if (fault.isSyntaxError !== true || message.startsWith("The requested module"))
    return {
      reason: threw,
      missingPackage: missingPackagePattern.exec(message)?.[1],
      cause: commonJs === undefined ? undefined : "commonJs",
      ...position,
    };
  // For modules, Node only prints the position, so the file is parsed again.
  const wrong = caret ?? (position === undefined ? await findWrong(file) : undefined);
  if (wrong === undefined) return { reason: threw, ...position };
  const cause = usesEsModule.test(message) ? { cause: "esModule" as const } : {};
  return { reason: `it is not valid JavaScript: ${message}`, ...cause, ...wrong };
}

/** How many files of a child are parsed again, each in a process, to find the position of a syntax error. */
const maximumChecks = 8;

function readAnswers(answers: readonly Answer[], files: readonly string[]): Promise<EvaluatedFile[]> {
  let checks = 0;
  const findWrong = async (file: string) => (checks++ < maximumChecks ? findSyntaxError(file) : undefined);
  return Promise.all(
    answers.map(async ({ kind, json }, index) => {
      try {
        const { value } = parseJson(json);
        if (kind === "value") return { value: finishMarkers(value) };
        return await describeFault(isRecord(value) ? value : {}, files[index] ?? "", findWrong);
      } catch {
        return { reason: "its result is invalid" };
      }
    }),
  );
}

/** Why a file cannot be evaluated, as a reason; `undefined` if it can. `path` is its real path. */
function findObstacle(root: string | undefined, path: string | undefined): string | undefined {
  if (root === undefined || path === undefined) return "it does not exist";
  if (!isBelow(root, path)) return "it is outside the package (symbolic links are followed)";
  // Node's permission model treats it as a wildcard.
  return root.includes("*") ? "its path contains a *" : undefined;
}

async function evaluate(
  { packageRoot, files }: EvaluationRequest,
  limits: Limits,
  { hasNetwork = false, signal }: ConfinedEvaluatorOptions,
): Promise<Evaluation> {
  const results = new Map<string, EvaluatedFile>();
  const root = realPathOf(packageRoot);
  const paths = new Map<string, string>();
  for (const file of files) {
    const path = realPathOf(file);
    const obstacle = findObstacle(root, path);
    if (obstacle !== undefined) results.set(file, { reason: obstacle });
    else if (path !== undefined) paths.set(file, path);
  }
  if (root === undefined || paths.size === 0) return { confinement: "data", results };

  const launcher = chooseLauncher(hasNetwork);
  const readable = findReadable(root);
  const deadline = performance.now() + limits.packMs;
  let pending = [...paths.keys()];
  for (let restarts = 0; pending.length > 0; restarts++) {
    const left = Math.min(limits.wallMs, deadline - performance.now());
    if (restarts > limits.restarts || left <= 0 || signal?.aborted) {
      for (const file of pending) results.set(file, { reason: signal?.aborted ? interrupted : notReached });
      break;
    }
    const asked = pending.map((file) => paths.get(file) ?? file);
    const { answers, end } = await runConfined({
      ...limits,
      launcher,
      readable,
      files: asked,
      wallMs: left,
      tooLarge: describeTooLarge(limits),
      signal,
    });
    const read = await readAnswers(answers, asked);
    for (const [index, answer] of read.entries()) results.set(pending[index] ?? "", answer);
    pending = pending.slice(read.length);
    // An earlier file may have ended the child. The first file of a child is the culprit itself.
    const [first] = pending;
    if (first === undefined || read.length > 0) continue;
    const failed = end.cause === "notStarted" ? pending : [first];
    for (const file of failed) results.set(file, { reason: describeEnd(end, limits) });
    pending = pending.slice(failed.length);
  }
  const network = isolatesNetwork(launcher) ? "permission+netns" : "permission";
  return { confinement: permissionOption === undefined ? "none" : network, results };
}

/**
 * Evaluates definition files in confined child processes, one per pack. Trust level: inspection; none of a pack's code
 * runs in this process.
 */
export function createConfinedEvaluator(options: ConfinedEvaluatorOptions = {}): EvaluationPort {
  const limits = { ...defaultLimits, ...options.limits };
  return {
    async evaluate(request) {
      if (options.requireConfinement && request.files.length > 0 && permissionOption === undefined) {
        throw failure("ConfinementUnavailable", { required: true });
      }
      return evaluate(request, limits, options);
    },
  };
}
