import { join } from "node:path";
import type { Random } from "../bench/support/random.ts";
import { openSession, type Session, TrailblazeError } from "../src/session.ts";
import { writeTree } from "../test/support/tree.ts";
import { Broken, expectThat, type Part, type Steps } from "./support/part.ts";
import { smallServer } from "./support/servers.ts";
import { makeText } from "./support/texts.ts";

const callsOfStep = 100;

const project = {
  "package.json": { name: "soaked", version: "1.0.0", type: "module", trailblaze: { tools: ["echo"] } },
  "tool.js":
    "export async function echo({ text, fails }) {\n" +
    "  if (fails) throw new Error(text);\n" +
    "  return text;\n" +
    "}\n",
  "trailblaze/tools/echo.json": {
    name: "echo",
    inputSchema: {
      type: "object",
      properties: { text: { type: "string" }, fails: { type: "boolean" } },
      required: ["text"],
    },
    handler: "./tool.js#echo",
    // A session keeps the calls that it records, for `session.recording`.
    _meta: { "trailblaze/isRecordable": false },
  },
};

async function expectError(code: string, call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (error instanceof TrailblazeError && error.code === code) return;
    throw error;
  }
  throw new Broken(`a call that should be ${code} succeeds`);
}

async function callOnce(session: Session, random: Random): Promise<void> {
  const kind = random.next();
  // Most are small; a few fill the pipes.
  const text = makeText(random, random.chance(0.02) ? 20_000 : 20);
  if (kind < 0.9) {
    const { variant, message } = await session.callTool("echo", { text });
    expectThat(variant === "Success", () => `a call is ${variant}: ${message.slice(0, 200)}`);
    expectThat(message === text, () => `of ${text.length} characters ${message.length} come back, or others`);
  } else if (kind < 0.94) {
    const { variant } = await session.callTool("echo", { text, fails: true });
    expectThat(variant === "ExceptionThrown", () => `a failing call is ${variant}`);
  } else if (kind < 0.96) {
    const { variant } = await session.callTool("echo", {});
    expectThat(variant !== "Success", () => "a call without its arguments succeeds");
  } else if (kind < 0.98) {
    await expectError("ToolNotFound", session.callTool("ecoh", { text }));
  } else {
    const canceled = new AbortController();
    const call = session.callTool("echo", { text }, { signal: canceled.signal });
    const reason = new Error("canceled");
    canceled.abort(reason);
    // It may have ended before.
    await call.catch((error: unknown) => {
      if (error !== reason) throw error;
    });
  }
}

const stepsOf = (session: Session): Steps => ({
  async step(random) {
    const width = random.pick([1, 4, 32]);
    for (let done = 0; done < callsOfStep; done += width) {
      const count = Math.min(width, callsOfStep - done);
      const settled = await Promise.allSettled(
        Array.from({ length: count }, () => callOnce(session, random)),
      );
      for (const one of settled) if (one.status === "rejected") throw one.reason;
    }
    return { calls: callsOfStep };
  },
  close: () => session.close(),
});

/** Calls of a pack's tool, which runs in this process. */
export const inProcessCalls: Part = {
  steps: 1_000_000 / callsOfStep,
  async open({ folder }) {
    writeTree(folder, project);
    return stepsOf(await openSession({ cwd: folder, config: { logDir: join(folder, "logs") } }));
  },
};

/** Calls of a server's tool, over its stdin and stdout. */
export const stdioCalls: Part = {
  steps: 100_000 / callsOfStep,
  async open({ folder }) {
    writeTree(folder, { "package.json": { name: "soaked", private: true } });
    const config = { logDir: join(folder, "logs"), trailblazeSubprocessToolsets: [smallServer("echo")] };
    return stepsOf(await openSession({ cwd: folder, config }));
  },
};
