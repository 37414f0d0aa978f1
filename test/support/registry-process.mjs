// A verdaccio of its own process, run by registry.ts. The IPC channel is its lifeline: when the parent ends,
// however it ends, the channel closes, and this process removes its folder and exits.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runServer } from "verdaccio";

const { localPatterns, upstream } = JSON.parse(process.argv[2]);
const folder = mkdtempSync(join(tmpdir(), "trailblaze-registry-"));

process.on("exit", () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
process.on("disconnect", () => process.exit(0));
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => process.exit(0));

const everybody = { access: "$all", publish: "$all", unpublish: "$all" };
const server = await runServer({
  // Verdaccio resolves relative paths against the folder of this file, which need not exist.
  configPath: join(folder, "config.yaml"),
  storage: join(folder, "storage"),
  secret: "0".repeat(32),
  web: { enable: false },
  auth: { htpasswd: { file: join(folder, "htpasswd") } },
  uplinks: { upstream: { url: upstream, maxage: "1h" } },
  packages: {
    // No `proxy`: a stranger's package of our name is never installed, not even when ours is missing.
    ...Object.fromEntries(localPatterns.map((pattern) => [pattern, everybody])),
    "@*/*": { ...everybody, proxy: "upstream" },
    "**": { ...everybody, proxy: "upstream" },
  },
  server: { keepAliveTimeout: 60 },
  publish: { allow_offline: true },
  log: { type: "stdout", format: "pretty", level: "warn" },
});

server.listen(0, "127.0.0.1", () => {
  process.send(`http://127.0.0.1:${server.address().port}/`);
});
