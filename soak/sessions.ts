import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "../bench/support/random.ts";
import { TrailblazeError } from "../src/problems/index.ts";
import { openSession, type TrailblazeConfig } from "../src/session.ts";
import { writeTree } from "../test/support/tree.ts";
import { expectThat, type Part, type Steps } from "./support/part.ts";
import { smallServer } from "./support/servers.ts";
import { makeText } from "./support/texts.ts";

const names = ["first", "second"];
const broken = { name: "broken", command: process.execPath, args: ["-e", "process.exit(3)"] };

/** Whether an abandoned session rejects as it should. */
async function isRejected(opening: Promise<unknown>, signal: AbortSignal): Promise<boolean> {
  try {
    await opening;
    return false;
  } catch (error) {
    if (error !== signal.reason) throw error;
    return true;
  }
}

function openSteps(folder: string): Steps {
  const logDir = join(folder, "logs");
  mkdirSync(logDir);
  writeTree(folder, { "package.json": { name: "soaked", private: true } });
  const configOf = (trailblazeSubprocessToolsets: TrailblazeConfig["trailblazeSubprocessToolsets"] & {}) => ({
    logDir,
    trailblazeSubprocessToolsets,
  });
  const config = configOf(names.map(smallServer));

  async function openAndCall(random: Random): Promise<void> {
    const session = await openSession({ cwd: folder, config });
    try {
      const found = session.tools.map(({ name }) => name);
      expectThat(found.join() === names.join(), () => `a session has the tools ${found.join(", ")}`);
      for (const name of names) {
        const text = makeText(random, 200);
        const { variant, message } = await session.callTool(name, { text });
        expectThat(variant === "Success" && message === text, () => `${name} answers ${variant}: ${message}`);
      }
    } finally {
      await session.close();
    }
  }

  return {
    async step(random) {
      const kind = random.next();
      try {
        if (kind < 0.9) {
          await openAndCall(random);
          return { sessions: 1, "calls in them": names.length };
        }
        if (kind < 0.95) {
          const failing = openSession({ cwd: folder, config: configOf([smallServer("first"), broken]) });
          const error = await failing.then(
            (session) => session.close(),
            (reason: unknown) => reason,
          );
          expectThat(error !== undefined, () => "a session opens with a server that does not start");
          if (!(error instanceof TrailblazeError)) throw error;
          return { sessions: 1, "failed starts": 1 };
        }
        const abandoned = new AbortController();
        const opening = openSession({ cwd: folder, config, signal: abandoned.signal });
        const rejected = isRejected(opening, abandoned.signal);
        await sleep(random.between(0, 60));
        abandoned.abort(new Error("abandoned"));
        const isAbandoned = await rejected;
        if (!isAbandoned) await (await opening).close();
        return { sessions: 1, abandoned: Number(isAbandoned) };
      } finally {
        rmSync(logDir, { recursive: true, force: true });
      }
    },
    close: async () => {},
  };
}

/** Sessions with two servers each, which open and close; some are abandoned, some have a server that does not start. */
export const sessions: Part = {
  steps: 10_000,
  limitMs: 10_000,
  open: async ({ folder }) => openSteps(folder),
};
