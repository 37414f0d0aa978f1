import { resolve } from "node:path";
import { expect, test } from "vitest";
import { readConfig } from "../../src/config/read-config.ts";
import { inspectionPort as port } from "../../src/files/node-inspection-port.ts";
import { planUserServer } from "../../src/runtime/server-launches.ts";
import { makePack } from "./make-pack.ts";

test.each<[string, string[], string]>([
  ["python3", ["-u", "/srv/my tools/server.py", "b.py"], "/srv/my tools/server.py"],
  ["bash", ["-c", "./a.sh && ./b.sh"], "package.json"],
  ["bash", ["-e", "./a.sh"], "a.sh"],
  ["node", ["./dist/server", "--config", "a.js"], "dist/server"],
  ["/usr/bin/node", ["-C", "dev", "--import", "./a.js", "server.mjs"], "server.mjs"],
  ["node", ["--test"], "package.json"],
])("the script that %s %j names is the server's", async (command, args, expected) => {
  const directory = makePack({});
  const given = { trailblazeSubprocessToolsets: [{ name: "s", command, args }] };
  const config = await readConfig(port, { directory, config: given });
  const planned = await Promise.all(config.subprocessServers.map((one) => planUserServer(one, config)));
  expect(planned.map(({ environment }) => environment.toolsetFile)).toEqual([resolve(directory, expected)]);
});
