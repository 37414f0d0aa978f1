import { randomBytes } from "node:crypto";
import type { Readable } from "node:stream";
import { maximumDepth } from "../data/parse-json.ts";
import { type ConfinedOptions, type ConfinedProcess, startConfined } from "./confined-process.ts";

/** The child's answer for a file. Not trusted more than the pack. */
export interface Answer {
  kind: "value" | "fault";
  json: Uint8Array;
}

/** How a child ended. */
export type ChildEnd =
  | { cause: "done" | "time" | "memory" | "answer" | "answers" | "aborted" }
  /** It could not be started; with `isLasting`, this method never works on this machine. */
  | { cause: "notStarted"; isLasting: boolean }
  | { cause: "exit"; code: number | null; signal: NodeJS.Signals | null };

export interface RunOptions extends ConfinedOptions {
  /** Real paths of the files to evaluate, in order. */
  files: readonly string[];
  /** Wall time for all files, in milliseconds. */
  wallMs: number;
  residentMiB: number;
  answerBytes: number;
  /** The limit for all answers, in bytes. */
  totalBytes: number;
  /** Kills the child. */
  signal?: AbortSignal | undefined;
}

export interface RunResult {
  /** One per file, from the first on; fewer if the child ended early. */
  answers: Answer[];
  end: ChildEnd;
}

/** The child program's exit code if a readable folder is not visible to it. */
const somethingMissing = 99;
const sampleMs = 20;
/** Bytes for the secret, the index and a fault besides the data. */
const overhead = 32 << 10;
/** How long a killed child's last output may take to arrive. Milliseconds. */
const drainMs = 500;

/** Finds messages in the child's output. Other output costs little, however it is split. */
class Messages {
  readonly #prefix: Buffer;
  #pending: Buffer = Buffer.alloc(0);
  /** Bytes that are not part of a message. */
  foreign = 0;

  constructor(secret: string) {
    this.#prefix = Buffer.from(`\n${secret} `);
  }

  /** Bytes of an incomplete message. */
  get unfinished(): number {
    return this.#pending.length;
  }

  push(chunk: Buffer, onMessage: (message: Buffer) => void): void {
    let data = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    for (;;) {
      const start = data.indexOf(this.#prefix);
      const end = start < 0 ? -1 : data.indexOf("\n", start + this.#prefix.length);
      // Keep what may be the start of a message.
      const kept = start < 0 ? Math.max(0, data.length - this.#prefix.length) : start;
      this.foreign += kept;
      if (end < 0) {
        this.#pending = data.subarray(kept);
        return;
      }
      onMessage(data.subarray(start + this.#prefix.length, end));
      data = data.subarray(end + 1);
    }
  }
}

/** Runs one child until it ends, and cleans up. */
export async function runConfined(options: RunOptions): Promise<RunResult> {
  let confined: ConfinedProcess;
  try {
    confined = startConfined(options);
  } catch {
    // There is no space for a folder, or too many grants for a command line.
    return { answers: [], end: { cause: "notStarted", isLasting: false } };
  }
  try {
    return await attend(confined, options);
  } finally {
    confined.kill();
    confined.cleanUp();
  }
}

function attend({ child, kill, residentBytes }: ConfinedProcess, options: RunOptions): Promise<RunResult> {
  const secret = randomBytes(16).toString("hex");
  const messages = new Messages(secret);
  const answers: Answer[] = [];
  let isReady = false;
  let stopped: ChildEnd | undefined;

  const stop = (end: ChildEnd) => {
    stopped ??= end;
    kill();
  };

  const readMessage = (message: Buffer) => {
    if (stopped !== undefined) return;
    if (message.equals(Buffer.from("ready"))) {
      isReady = true;
      return;
    }
    const head = /^(\d+) (value|fault) /.exec(message.subarray(0, 32).toString("latin1"));
    if (head === null || Number(head[1]) !== answers.length) return;
    answers.push({ kind: head[2] as Answer["kind"], json: message.subarray(head[0].length) });
    if (answers.length === options.files.length) stop({ cause: "done" });
  };

  const timer = setTimeout(() => stop({ cause: "time" }), options.wallMs);
  const abort = () => stop({ cause: "aborted" });
  options.signal?.addEventListener("abort", abort);
  if (options.signal?.aborted) abort();
  const sampler = setInterval(() => {
    if (residentBytes() > options.residentMiB * (1 << 20)) stop({ cause: "memory" });
  }, sampleMs);

  const largest = options.answerBytes + overhead;
  let received = 0;
  // With too many open files, a child has no pipes.
  const pipe = child.stdio?.[3] as Readable | undefined;
  const drained = new Promise<void>((resolve) => {
    if (pipe === undefined) return resolve();
    pipe.on("data", (chunk: Buffer) => {
      if (stopped !== undefined) return;
      received += chunk.length;
      messages.push(chunk, readMessage);
      if (messages.unfinished > largest || messages.foreign > largest) stop({ cause: "answer" });
      else if (received - messages.foreign > options.totalBytes) stop({ cause: "answers" });
    });
    pipe.on("error", () => resolve());
    pipe.on("close", () => resolve());
  });
  // A child that exits before it has read the request is noticed by its exit.
  child.stdin?.on("error", () => {});
  child.stdio?.[4]?.on("error", () => {});
  child.stdin?.end(
    JSON.stringify({
      secret,
      files: options.files.map((path) => ({ path })),
      visible: options.method === "root" ? options.grants.readable : [],
      answerBytes: options.answerBytes,
      maximumDepth,
    }),
  );

  return new Promise((resolve) => {
    const finish = async (describe: () => ChildEnd) => {
      clearTimeout(timer);
      clearInterval(sampler);
      options.signal?.removeEventListener("abort", abort);
      kill();
      const late = setTimeout(() => pipe?.destroy(), drainMs);
      await drained;
      clearTimeout(late);
      resolve({ answers, end: stopped ?? describe() });
    };
    child.on("error", (error: NodeJS.ErrnoException) =>
      finish(() => ({ cause: "notStarted", isLasting: error.code === "ENOENT" })),
    );
    child.on("exit", (code, signal) =>
      finish(() => {
        if (isReady) return { cause: "exit", code, signal };
        // The missing folder may be a problem of this pack only.
        return { cause: "notStarted", isLasting: code !== null && code !== somethingMissing };
      }),
    );
  });
}
