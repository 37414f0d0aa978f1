import { Worker } from "node:worker_threads";
import type { ModuleKind } from "./module-fault.ts";

export interface ParsedSource {
  text: string;
  /** The formats in which Node may read it, in the order to try. */
  kinds: readonly ModuleKind[];
}

/** The format in which a source can be parsed, or why it cannot be. */
export type ParserAnswer = { kind: ModuleKind; reason?: string };

const parsingMs = 10_000;

/**
 * Parses each source in each of its formats. The answer is the first one that works; if all fail, the message of the first
 * one. The code is compiled and never run: no module is evaluated, no function is called.
 */
const parseAll = `
const { parentPort } = require("node:worker_threads");
const vm = require("node:vm");
const wrapper = ["exports", "require", "module", "__filename", "__dirname"];
function explain(text, kind) {
  try {
    if (kind === "esm") new vm.SourceTextModule(text);
    else vm.compileFunction(text.replace(/^#!/, "//"), wrapper);
  } catch (error) {
    // Other errors, such as a stack overflow on deeply nested code, do not mean that the syntax is wrong.
    if (error instanceof SyntaxError) return { kind, reason: error.message };
  }
}
parentPort.once("message", (sources) => {
  parentPort.postMessage(sources.map(({ text, kinds }) => {
    const faults = kinds.map((kind) => explain(text, kind));
    const working = faults.indexOf(undefined);
    return working < 0 ? faults[0] : { kind: kinds[working] };
  }));
});
`;

/** Node's own parser in a thread. That takes a third of a short validation to start, so it can be started early. */
export class SyntaxParser {
  #worker: Worker | undefined;

  /** Starts the thread. It does not keep the process alive. Idempotent. */
  start(): Worker {
    this.#worker ??= new Worker(parseAll, {
      eval: true,
      execArgv: ["--experimental-vm-modules", "--no-warnings"],
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: 512 },
    }).on("error", () => {});
    this.#worker.unref();
    return this.#worker;
  }

  /** The answer for each source, once; empty if parsing takes too long or too much memory. */
  parse(sources: readonly ParsedSource[]): Promise<readonly ParserAnswer[]> {
    const worker = this.start();
    worker.ref();
    return new Promise<readonly ParserAnswer[]>((resolve) => {
      const timer = setTimeout(() => finish([]), parsingMs);
      const finish = (answers: readonly ParserAnswer[]) => {
        clearTimeout(timer);
        this.close();
        resolve(answers);
      };
      worker.once("message", finish).once("exit", () => finish([]));
      worker.postMessage(sources.map(({ text, kinds }) => ({ text, kinds })));
    });
  }

  /** Ends the thread. Idempotent. */
  close(): void {
    void this.#worker?.terminate();
    this.#worker = undefined;
  }
}
