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

const startLimitMs = 60_000;
const stopLimitMs = 60_000;

/** Runs the built `trailblaze start` on a free port of loopback. Without a server, it serves the session. */
export async function serveOverHttp(
  server: string | null,
  {
    cwd,
    args = [],
    script = inRepository("dist/cli/cli.cjs"),
  }: { cwd: string; args?: readonly string[]; script?: string },
): Promise<HttpServing> {
  const started = ["start", ...(server === null ? [] : [server]), "--http", "0", ...args];
  const child = spawn(process.execPath, [script, ...started], {
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
    const fail = (what: string) => reject(new Error(`trailblaze ${started.join(" ")} ${what}\n${stderr}`));
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
