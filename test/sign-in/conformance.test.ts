// The client part of the official conformance suite, about authorization, with the built command. It needs Node 22 or newer.
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { inRepository } from "../support/repository.ts";
import { command } from "../support/run-cli.ts";
import { type ProcessResult, runProcess } from "../support/run-process.ts";

const manifest = createRequire(import.meta.url).resolve("@modelcontextprotocol/conformance/package.json");
const suite = join(dirname(manifest), "dist/index.js");
const client = `"${process.execPath}" "${fileURLToPath(new URL("./conformance-client.mjs", import.meta.url))}"`;
const isOld = Number(process.versions.node.split(".")[0]) < 22;

// Of 26 that pass: each has another way to register, another check of issuers, or another grant.
const scenarios = [
  ...["basic-cimd", "pre-registration", "token-endpoint-auth-basic", "client-credentials-basic"],
  ...["scope-step-up", "authorization-server-migration", "iss-wrong-issuer", "metadata-issuer-mismatch"],
];

test.skipIf(isOld)(
  "the conformance suite accepts how the command signs in",
  { timeout: 480_000 },
  async () => {
    const env = { ...process.env, NO_COLOR: "1", COMMAND: command };
    const results: ProcessResult[] = [];
    // Two at a time: on a busy machine, none may take as long as all of them together.
    const queue = scenarios.values();
    const runQueue = async () => {
      for (const name of queue) {
        const options = ["--scenario", `auth/${name}`, "--timeout", "100000"];
        const args = [suite, "client", "--command", client, ...options];
        results.push(
          await runProcess(process.execPath, args, { cwd: inRepository("."), env, timeoutMs: 110_000 }),
        );
      }
    };
    await Promise.all([runQueue(), runQueue()]);
    const passed = /Passed: (\d+)\/\1, 0/;
    expect(results.filter(({ exitCode, stderr }) => exitCode !== 0 || !passed.test(stderr))).toEqual([]);
  },
);
