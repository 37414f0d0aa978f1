import { readFileSync } from "node:fs";
import { join } from "node:path";
import { makeTree, packManifest } from "../support/packs.ts";
import { isRunning, readPids } from "../support/processes.ts";
import { inRepository } from "../support/repository.ts";

const probe = readFileSync(inRepository("test/session/support/probe-server.mjs"), "utf8");

export const toolDefinition = (name: string) => ({
  name,
  description: "Say hello.",
  parameters: {},
  handler: "./lib/hello.js",
});

/** A pack with a tool and a server, and the processes that were started for it. */
export function makeProbePack() {
  const parent = makeTree({
    "pack/package.json": packManifest("probe-pack", {
      trailblaze: { servers: [["probe", "A probe"]], tools: [["hello", "Say hello"]] },
    }),
    "pack/trailblaze/servers/probe.json": {
      name: "probe",
      script: "./server/main.mjs",
      env: {
        PROBE_TOOLS: JSON.stringify([{ name: "probe_one", inputSchema: { type: "object" } }]),
        PIDS: "../pids",
      },
    },
    "pack/server/main.mjs":
      'import { appendFileSync } from "node:fs";\nappendFileSync(process.env.PIDS, `${process.pid}\\n`);\nawait import("./probe.mjs");\n',
    "pack/server/probe.mjs": probe,
    "pack/trailblaze/tools/hello.json": toolDefinition("probe_hello"),
    "pack/lib/hello.js": "export default () => 'hello';\n",
  });
  const directory = join(parent, "pack");
  const pids = () => readPids(join(parent, "pids"));
  const running = () => pids().filter(isRunning);
  return { directory, pids, running };
}
