import { spawn } from "node:child_process";
import { inRepository } from "./repository.ts";

export interface HttpServing {
  readonly url: string;
  readonly pid: number;
  /** Everything written to stderr so far. */
  readonly stderr: () => string;
  /** Asks the process to end and waits for it; resolves to its exit code, null where it had to be killed. */
  readonly stop: () => Promise<number | null>;
}

const startLimitMs = 30_000;
const stopLimitMs = 10_000;

/** Runs the built `trailblaze start` on a free port of loopback. Rejects if it ends before it serves. */
export async function serveOverHttp(
  server: string,
  {
    cwd,
    args = [],
    script = inRepository("dist/cli/cli.cjs"),
  }: { cwd: string; args?: readonly string[]; script?: string },
): Promise<HttpServing> {
  const child = spawn(process.execPath, [script, "start", server, "--http", "0", ...args], {
    cwd,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let stderr = "";
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  const stop = () => {
    const limit = setTimeout(() => child.kill("SIGKILL"), stopLimitMs);
    child.kill("SIGTERM");
    return ended.finally(() => clearTimeout(limit));
  };
  const url = await new Promise<string>((resolve, reject) => {
    const fail = (what: string) => reject(new Error(`trailblaze start ${server} ${what}\n${stderr}`));
    const limit = setTimeout(() => {
      void stop();
      fail(`does not serve after ${startLimitMs} ms`);
    }, startLimitMs);
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      stderr += chunk;
      const [found] = /http:\/\/\S+(?=\n)/.exec(stderr) ?? [];
      if (found === undefined) return;
      clearTimeout(limit);
      resolve(found);
    });
    child.once("error", reject);
    void ended.then((code) => {
      clearTimeout(limit);
      fail(`exited with code ${code}`);
    });
  });
  return { url, pid: child.pid ?? -1, stderr: () => stderr, stop };
}
