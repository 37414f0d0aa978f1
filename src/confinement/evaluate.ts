import { readFileSync } from "node:fs";
import { DataSyntaxError, isRecord, parseJson } from "../data/parse-json.ts";
import { failure } from "../problems/problem.ts";
import { printable } from "../problems/text.ts";
import {
  type Answer,
  findReadable,
  findSyntaxErrorIn,
  interrupted,
  isolatesNetwork,
  type Limits,
  permissionOption,
  positionInStack,
  runConfined,
} from "./confined-process.ts";

/** How a pack's code was confined while it was evaluated; `"data"`: no code was evaluated. */
export type Confinement = "data" | "permission" | "permission+netns" | "none";

/** The result for one file. The position counts from 1 and is in that file. */
export type EvaluatedFile =
  | { value: unknown }
  | {
      reason: string;
      /** The package that was not found, if that is the reason. */
      missingPackage?: string | undefined;
      line?: number;
      column?: number;
    };

const defaultLimits: Limits = {
  wallMs: 5000,
  packMs: 15_000,
  heapMiB: 256,
  answerBytes: 1 << 20,
  packBytes: 64 << 20,
};

export interface EvaluationOptions {
  /** Throws `ConfinementUnavailable` if the permission model is not available. */
  requireConfinement?: boolean | undefined;
  /** Kills the child processes; the remaining files get a reason. */
  signal?: AbortSignal | undefined;
  limits?: Partial<Limits>;
  /** Keeps the network of the host, as on systems without namespaces. Set in tests. */
  hasNetwork?: boolean;
}

const notReached =
  "it was not evaluated, because other files of the pack ended the process, took too long or have large results";

function shorten(text: string, limit = 200): string {
  const characters = [...printable(text)];
  return characters.length > limit ? `${characters.slice(0, limit - 1).join("")}…` : characters.join("");
}

const missingPackagePattern = /Cannot find (?:package|module) '((?:@[\w.~-]+\/)?\w[\w.~-]*)(?:\/[\w.~/-]*)?'/;

/** Node's messages for a file in the wrong format; the rest of the first one names a path of this machine. */
const usesCommonJs = /^((?:module|exports|require|__dirname|__filename) is not defined in ES module scope)/;
const usesEsModule =
  /^(?:Cannot use import statement outside a module|Unexpected token 'export'|Cannot use 'import\.meta')/;

/** The reason and the position for a file without a value; the pack controls both. */
async function describeFault(
  fault: Readonly<Record<string, unknown>>,
  file: string,
  deadline: number,
): Promise<EvaluatedFile> {
  const text = (key: string): string => (typeof fault[key] === "string" ? fault[key] : "");
  if (text("reason") !== "") return { reason: shorten(text("reason"), 220) };
  const [, commonJs] = usesCommonJs.exec(text("message")) ?? [];
  // Node adds what imports a missing module.
  const written = text("message")
    .replace(/\nRequire stack:.*/s, "")
    .replace(` imported from ${file}`, "");
  const message = commonJs ?? shorten(written);
  // A failed link is a SyntaxError, too, and differs only in its message. For modules, Node gives no position.
  const mayBeSyntax = fault.isSyntaxError === true && !message.startsWith("The requested module");
  if (mayBeSyntax && performance.now() < deadline) {
    const isModule = !file.endsWith(".cjs") && !usesEsModule.test(message);
    const wrong = await findSyntaxErrorIn(readFileSync(file, "utf8"), isModule ? "esm" : "commonjs");
    if (wrong !== undefined) return { ...wrong, reason: `it is not valid JavaScript: ${message}` };
  }
  return {
    reason: message === "" ? "it threw an error without a message" : `it threw: ${message}`,
    missingPackage: missingPackagePattern.exec(message)?.[1],
    ...positionInStack(text("stack"), file),
  };
}

async function readAnswer({ kind, json }: Answer, file: string, deadline: number): Promise<EvaluatedFile> {
  try {
    const { value } = parseJson(json);
    return kind === "value" ? { value } : await describeFault(isRecord(value) ? value : {}, file, deadline);
  } catch (error) {
    return { reason: error instanceof DataSyntaxError ? error.reason : "its result is invalid" };
  }
}

/**
 * Evaluates definition files of a pack, by their real paths, in a confined child process, and a new one if a file ends it. Trust
 * level: inspection; none of the pack's code runs in this process. Errors become reasons. The results are by path as in the request;
 * values are plain data, and a function appears as `{ "$function": name }`.
 */
export async function evaluateConfined(
  { packageRoot, files }: { packageRoot: string; files: readonly string[] },
  { requireConfinement = false, hasNetwork = false, signal, limits: own }: EvaluationOptions = {},
) {
  if (requireConfinement && permissionOption === undefined)
    throw failure("ConfinementUnavailable", { required: true });
  const limits = { ...defaultLimits, ...own };
  const results = new Map<string, EvaluatedFile>();
  const refuse = (reason: string, refused: readonly string[]) => {
    for (const file of refused) results.set(file, { reason });
  };
  const readable = findReadable(packageRoot);
  const deadline = performance.now() + limits.packMs;
  let { packBytes } = limits;
  // Node's permission model treats * as a wildcard.
  let pending = packageRoot.includes("*") ? [] : files;
  if (pending.length === 0) refuse("its path contains a *", files);
  while (pending.length > 0) {
    const wallMs = Math.min(limits.wallMs, deadline - performance.now());
    if (wallMs <= 0 || packBytes < 0 || signal?.aborted) {
      refuse(signal?.aborted ? interrupted : notReached, pending);
      break;
    }
    const run = {
      readable,
      files: pending,
      limits: { ...limits, wallMs, packBytes },
      hasNetwork,
      signal,
    };
    const { answers, end } = await runConfined(run);
    for (const [index, answer] of answers.entries()) {
      const file = pending[index] ?? "";
      packBytes -= answer.json.length;
      results.set(file, await readAnswer(answer, file, deadline));
    }
    // An earlier file may have ended the child. The first file of a child is the culprit itself.
    if (answers.length === 0) refuse(end, pending.slice(0, 1));
    pending = pending.slice(answers.length || 1);
  }
  const network = isolatesNetwork(hasNetwork) ? "permission+netns" : "permission";
  const confinement: Confinement = permissionOption === undefined ? "none" : network;
  return { confinement, results };
}
