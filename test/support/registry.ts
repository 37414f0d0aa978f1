import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runPackageManager, runUsersNpm } from "./package-managers.ts";
import { inRepository } from "./repository.ts";
import { samplePacks } from "./sample-packs.ts";

export interface Registry {
  readonly url: string;
  /** Publishes a package folder or a tarball, with npm and without lifecycle scripts. */
  readonly publish: (folderOrTarball: string, options?: { tag?: string }) => Promise<void>;
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

interface Started {
  url: string;
  /** Where the process keeps everything; it goes when the process ends. */
  folder: string;
}

function started(child: ChildProcess): Promise<Started> {
  return new Promise((resolve, reject) => {
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", (chunk: string) => {
        output = (output + chunk).slice(-4096);
      });
    }
    child.once("message", (message) => resolve(message as Started));
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
  const { url, folder } = await started(child);

  return {
    url,
    async publish(folderOrTarball, { tag = "latest" } = {}) {
      // One for each call: several may be under way, and each writes its settings there.
      const home = mkdtempSync(join(folder, "publisher-"));
      const args = ["publish", folderOrTarball, "--access", "public", "--tag", tag];
      await runPackageManager("npm", args, { cwd: folder, registry: url, home });
    },
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
