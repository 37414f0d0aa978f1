import { randomBytes } from "node:crypto";
import type { Readable } from "node:stream";
import { maximumDepth } from "../data/parse-json.ts";
import { type ConfinedOptions, type ConfinedProcess, startConfined } from "./confined-process.ts";

/** The child's own words for what became of a file. Not to be trusted further than the pack. */
export interface Answer {
  kind: "value" | "fault";
  json: Uint8Array;
}

/** Why a child came to its end. */
export type ChildEnd =
  | { cause: "done" | "time" | "memory" | "answer" | "answers" }
  /** It could not be started; with `isLasting`, not in this way on this machine. */
  | { cause: "notStarted"; isLasting: boolean }
  | { cause: "exit"; code: number | null; signal: NodeJS.Signals | null };

export interface RunOptions extends ConfinedOptions {
  /** Real paths of what is evaluated, in order. */
  files: readonly string[];
  /** Wall time for all of it. */
  wallMs: number;
  residentMiB: number;
  answerBytes: number;
  /** For the answers of all files. */
  totalBytes: number;
}

export interface RunResult {
  /** One a file, from the first on; fewer than files if the child ended before. */
  answers: Answer[];
  end: ChildEnd;
}

/** Exit code of the child program where something that may be read is not visible to it. */
const somethingMissing = 99;
const sampleMs = 20;
/** Room for the secret, an index and a fault beside the data. */
const overhead = 32 << 10;
/** A killed child's last words may still be on their way. */
const drainMs = 500;

/** Finds messages in what arrives. Whatever else is written costs little, however it is cut into lines. */
class Messages {
  readonly #prefix: Buffer;
  #pending: Buffer = Buffer.alloc(0);
  /** Bytes that belong to no message. */
  foreign = 0;

  constructor(secret: string) {
    this.#prefix = Buffer.from(`\n${secret} `);
  }

  /** Bytes of a message that is not complete. */
  get unfinished(): number {
    return this.#pending.length;
  }

  push(chunk: Buffer, onMessage: (message: Buffer) => void): void {
    let data = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    for (;;) {
      const start = data.indexOf(this.#prefix);
      const end = start < 0 ? -1 : data.indexOf("\n", start + this.#prefix.length);
      // What may be the beginning of a message is kept.
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

/** Runs one child to its end, whatever that is, and leaves nothing behind. */
export async function runConfined(options: RunOptions): Promise<RunResult> {
  let confined: ConfinedProcess;
  try {
    confined = startConfined(options);
  } catch {
    // No room for a folder, or for the command line of a pack with very many grants.
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
  const sampler = setInterval(() => {
    if (residentBytes() > options.residentMiB * (1 << 20)) stop({ cause: "memory" });
  }, sampleMs);

  const largest = options.answerBytes + overhead;
  let received = 0;
  // Where there are too many open files, a child has no pipes.
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
  // A child that is gone before it has read everything tells so by its exit.
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
        // What is missing may be missing to this pack only.
        return { cause: "notStarted", isLasting: code !== null && code !== somethingMissing };
      }),
    );
  });
}
