import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { runUsersNpm } from "./package-managers.ts";
import { inRepository } from "./repository.ts";
import { samplePacks } from "./sample-packs.ts";

export interface Registry {
  readonly url: string;
  /** Ends the process and removes everything it stored. */
  readonly close: () => Promise<void>;
}

const unscoped = samplePacks.map(({ name }) => name).filter((name) => !name.startsWith("@"));

/** Package names that come from this registry or from nowhere. */
const localPatterns = ["@acme/*", "@globex/*", "@trailblaze/*", "trailblaze", "tb-*", ...unscoped];

/** The registry that npm is configured for, so that no host stands in a file of ours. */
async function findUpstream(): Promise<string> {
  const { stdout } = await runUsersNpm(["config", "get", "registry"], inRepository("."));
  return stdout.trim();
}

/** The address that a registry sends once it listens. */
function started(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", (chunk: string) => {
        output = (output + chunk).slice(-4096);
      });
    }
    child.once("message", (message) => resolve(String(message)));
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`The registry exited with code ${code}\n${output}`)));
  });
}

/** Starts an empty registry on loopback: packages of ours are local, all others come through npm's registry. */
export async function startRegistry(): Promise<Registry> {
  const settings = JSON.stringify({ localPatterns, upstream: await findUpstream() });
  const script = fileURLToPath(new URL("./registry-process.mjs", import.meta.url));
  const child = fork(script, [settings], { stdio: ["ignore", "pipe", "pipe", "ipc"], execArgv: [] });
  // A signal it can catch: it has a folder to remove.
  const endChild = () => child.kill("SIGTERM");
  process.on("exit", endChild);
  const url = await started(child);

  return {
    url,
    async close() {
      process.off("exit", endChild);
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, "exit");
      child.disconnect();
      const impatience = setTimeout(() => child.kill("SIGKILL"), 5_000);
      await exited;
      clearTimeout(impatience);
    },
  };
}
