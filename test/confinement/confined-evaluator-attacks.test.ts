import { type ChildProcess, spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { EvaluatedFile } from "../../src/confinement/evaluate.ts";
import { makeTree } from "../support/packs.ts";
import { evaluateIn, ways } from "./evaluate-pack.ts";

// Every attack has a canary that stays as it is: a folder that stays empty, a listener that stays silent, a process
// that lives on. What the pack says of its success is looked at only where it cannot be seen otherwise.

const limits = { wallMs: 20_000, packMs: 60_000 };

/** Code that tries everything in turn and gives what came of each try, by name. */
const tryAll = (attempts: Readonly<Record<string, string>>): string => `
  import * as fs from "node:fs";
  import { createRequire } from "node:module";
  const require = createRequire(import.meta.url);
  const attempts = { ${Object.entries(attempts).map(([name, code]) => `${JSON.stringify(name)}: async () => { ${code} }`)} };
  const outcomes = {};
  for (const name of Object.keys(attempts)) {
    try { outcomes[name] = String(await attempts[name]()); } catch (error) { outcomes[name] = "refused"; }
  }
  export default outcomes;`;

/** What of a pack's attempts was not refused. */
function succeeded(result: EvaluatedFile | undefined): unknown[] {
  if (result === undefined || !("value" in result)) return [result];
  return Object.entries(result.value as object).filter(([, outcome]) => outcome !== "refused");
}

const listenOn = (address: { host: string; port: number } | { path: string }) =>
  new Promise<{ port: number; touched: () => number }>((resolve) => {
    let count = 0;
    const server = createServer((socket) => {
      count++;
      socket.destroy();
    });
    onTestFinished(() => void server.close());
    server.listen(address, () => {
      const bound = server.address();
      resolve({ port: typeof bound === "object" && bound !== null ? bound.port : 0, touched: () => count });
    });
  });

function listenForDatagrams(): Promise<{ port: number; touched: () => number }> {
  return new Promise((resolve) => {
    let count = 0;
    const socket = createSocket("udp4", () => count++);
    onTestFinished(() => void socket.close());
    socket.bind(0, "127.0.0.1", () => resolve({ port: socket.address().port, touched: () => count }));
  });
}

function startSurvivor(): ChildProcess {
  const child = spawn("sleep", ["600"]);
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

describe.each(ways)("a pack that is evaluated with $way", ({ hasNetwork }) => {
  const options = { hasNetwork, limits };

  /** Adds a file that tries everything to a pack, and gives what came of its evaluation. */
  async function attack(pack: string, attempts: Readonly<Record<string, string>>) {
    writeFileSync(join(pack, "tool.js"), tryAll(attempts));
    const { results } = await evaluateIn(pack, ["tool.js"], options);
    return results["tool.js"];
  }

  test("a confined pack cannot write files", async () => {
    const root = makeTree({
      "pack/package.json": { type: "module" },
      "pack/writable.txt": "as it was",
      "canary/keep": "",
    });
    const canary = JSON.stringify(join(root, "canary"));
    const here = JSON.stringify(join(root, "pack"));
    const result = await attack(join(root, "pack"), {
      sync: `fs.writeFileSync(${canary} + "/sync", "x")`,
      own: `fs.writeFileSync(${here} + "/own", "x")`,
      append: `fs.appendFileSync(${here} + "/writable.txt", "x")`,
      promises: `await fs.promises.writeFile(${canary} + "/promises", "x")`,
      stream: `await new Promise((resolve, reject) => fs.createWriteStream(${canary} + "/stream").on("error", reject).on("finish", resolve).end("x"))`,
      temporary: `fs.mkdtempSync("x")`,
      link: `fs.symlinkSync("/etc", ${here} + "/link")`,
      hardLink: `fs.linkSync(${here} + "/writable.txt", ${canary} + "/hard")`,
      remove: `fs.rmSync(${here} + "/writable.txt")`,
      truncateOpen: `fs.ftruncateSync(fs.openSync(${here} + "/writable.txt"), 0)`,
      modeOpen: `fs.fchmodSync(fs.openSync(${here} + "/writable.txt"), 0o777)`,
      database: `const { DatabaseSync } = await import("node:sqlite"); new DatabaseSync(${canary} + "/database").exec("create table a(b)")`,
      databaseRequired: `const { DatabaseSync } = process.getBuiltinModule("node:sqlite"); new DatabaseSync(${canary} + "/database").exec("create table a(b)")`,
      trace: `require("node:trace_events").createTracing({ categories: ["v8"] }).enable()`,
      report: `process.report.writeReport(${canary} + "/report")`,
      heap: `require("node:v8").writeHeapSnapshot(${canary} + "/heap")`,
      socket: `await new Promise((resolve, reject) => require("node:net").createServer().on("error", reject).listen(${canary} + "/socket", resolve))`,
      socketBelow: `const server = new (require("node:net").Server)(); server._listen2(${canary} + "/below", -1, -1); if (server._handle === null) throw 1`,
      cache: `const { enableCompileCache } = require("node:module"); if (enableCompileCache?.(${canary} + "/cache").status !== 1) throw 1`,
      addon: `process.dlopen({ exports: {} }, ${here} + "/writable.txt")`,
    });

    expect(readdirSync(join(root, "canary"))).toEqual(["keep"]);
    expect(readdirSync(join(root, "pack")).sort()).toEqual(["package.json", "tool.js", "writable.txt"]);
    expect(succeeded(result)).toEqual([]);
  });

  test("a confined pack cannot start processes or workers", async () => {
    const root = makeTree({ "pack/package.json": { type: "module" }, "canary/keep": "" });
    const touch = `"touch", [${JSON.stringify(join(root, "canary/touched"))}]`;
    const result = await attack(join(root, "pack"), {
      spawn: `const child = require("node:child_process").spawn(${touch}); await new Promise((resolve, reject) => child.on("error", reject).on("exit", resolve))`,
      spawnSync: `const { error } = require("node:child_process").spawnSync(${touch}); if (error) throw error`,
      fork: `require("node:child_process").fork(import.meta.filename)`,
      handle: `const { ChildProcess } = require("node:child_process"); if (new ChildProcess().spawn({ file: "touch", args: ["touch", ${touch.split(", ")[1]?.slice(1)}, stdio: "ignore" }) !== 0) throw 1`,
      cluster: `require("node:cluster").fork()`,
      worker: `new (require("node:worker_threads").Worker)("1", { eval: true })`,
      loader: `require("node:module").register("data:text/javascript,")`,
      exec: `if (!process.execve) throw 1; process.execve("/usr/bin/touch", [${touch.replace(", [", ", ")})`,
      wasi: `const { WASI } = require("node:wasi"); new WASI({ version: "preview1", preopens: { "/": "/" } })`,
      inspector: `require("node:inspector").open(0)`,
      inspectorSession: `new (require("node:inspector").Session)().connect()`,
    });

    expect(readdirSync(join(root, "canary"))).toEqual(["keep"]);
    expect(succeeded(result)).toEqual([]);
  });

  test("a confined pack cannot reach the host's processes", async () => {
    const survivor = startSurvivor();
    const ended: unknown[] = [];
    survivor.on("exit", (code, signal) => ended.push([code, signal]));
    const pids = [survivor.pid, process.pid];
    const root = makeTree({ "package.json": { type: "module" } });
    const result = await attack(root, {
      kill: `for (const pid of [${pids}]) process.kill(pid, pid === ${process.pid} ? 0 : "SIGKILL")`,
      imported: `const { kill } = await import("node:process"); kill(${survivor.pid}, "SIGKILL")`,
      raw: `if (process._kill(${survivor.pid}, 9) !== 0) throw 1`,
      debug: `process._debugProcess(${survivor.pid})`,
      binding: `process.binding("process_wrap")`,
      priority: `require("node:os").setPriority(${survivor.pid}, 19)`,
    });

    expect(succeeded(result)).toEqual([]);
    expect(ended).toEqual([]);
    expect(survivor.exitCode).toBe(null);
  });

  test("a confined pack cannot reach the network or sockets", async () => {
    const root = makeTree({ "package.json": { type: "module" }, "sockets/keep": "" });
    const path = join(root, "sockets/listening");
    const tcp = await listenOn({ host: "127.0.0.1", port: 0 });
    const udp = await listenForDatagrams();
    const local = await listenOn({ path });
    const abstract = await listenOn({ path: `\0${path}` });
    const url = `http://127.0.0.1:${tcp.port}/`;
    const connected = (socket: string) =>
      `const socket = ${socket}; await new Promise((resolve, reject) => socket.on("connect", resolve).on("error", reject))`;
    const result = await attack(root, {
      connect: connected(`require("node:net").connect(${tcp.port}, "127.0.0.1")`),
      socket: connected(`new (require("node:net").Socket)().connect({ port: ${tcp.port} })`),
      local: connected(`require("node:net").connect(${JSON.stringify(path)})`),
      abstract: connected(`require("node:net").connect("\\0" + ${JSON.stringify(path)})`),
      handle: `const hooks = require("node:async_hooks"); let Request; hooks.createHook({ init(id, type, trigger, resource) { if (type === "SHUTDOWNWRAP") Request = resource.constructor } }).enable(); const socket = new (require("node:net").Socket)({ fd: 0, readable: false }); socket.on("error", () => {}).end(); await new Promise((resolve) => setTimeout(resolve, 50)); if (new socket._handle.constructor(0).connect(new Request(), ${JSON.stringify(path)}) !== 0) throw 1; await new Promise((resolve) => setTimeout(resolve, 50))`,
      listen: `const server = new (require("node:net").Server)(); server._listen2("127.0.0.1", 0, 4); if (!server.address()) throw 1`,
      bind: `const socket = require("node:dgram").createSocket("udp4"); const [state] = Object.getOwnPropertySymbols(socket).filter((one) => /state/.test(String(one))); if (socket[state].handle.bind("127.0.0.1", 0, 0) !== 0) throw 1`,
      tls: connected(`require("node:tls").connect(${tcp.port}, "127.0.0.1")`),
      http2: connected(`require("node:http2").connect("${url}")`),
      get: `await new Promise((resolve, reject) => require("node:http").get("${url}", resolve).on("error", reject))`,
      fetch: `await fetch("${url}")`,
      datagram: `const socket = require("node:dgram").createSocket("udp4"); await new Promise((resolve, reject) => socket.send("x", ${udp.port}, "127.0.0.1", (error) => error ? reject(error) : resolve()))`,
      lookup: `await require("node:dns").promises.lookup("example.com")`,
      resolve: `const dns = require("node:dns").promises; dns.setServers(["127.0.0.1:${udp.port}"]); await dns.resolve4("example.com")`,
      resolver: `const dns = new (require("node:dns").Resolver)({ timeout: 100, tries: 1 }); dns.setServers(["127.0.0.1:${udp.port}"]); await new Promise((resolve, reject) => dns.resolve4("example.com", (error) => error ? reject(error) : resolve()))`,
    });

    expect(succeeded(result)).toEqual([]);
    // Proves that nothing was sent: it would be here by now.
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect([tcp, udp, local, abstract].map(({ touched }) => touched())).toEqual([0, 0, 0, 0]);
  });

  test("a confined pack cannot read other files, not even through links", async () => {
    const root = makeTree({
      "secrets/secret.json": { secret: "hunter2" },
      "secrets/secret.cjs": "module.exports = 'hunter2';",
      "secrets/.env": "SECRET=hunter2\n",
      "pack/package.json": { type: "module", dependencies: { "../../secrets": "1", "..": "1", linked: "1" } },
      "pack/own.txt": "own",
      "package.json": { name: "around-the-pack", secret: "hunter2" },
      "beside/package.json": { name: "beside", secret: "hunter2" },
      "pack-beside/secret.txt": "hunter2",
    });
    const pack = join(root, "pack");
    symlinkSync(join(root, "secrets/secret.json"), join(pack, "link.json"));
    symlinkSync(join(root, "secrets/secret.cjs"), join(pack, "link.cjs"));
    symlinkSync(join(root, "secrets/.env"), join(pack, "link.env"));
    symlinkSync(join(root, "secrets"), join(pack, "folder"));
    symlinkSync("/proc/self", join(pack, "self"));
    mkdirSync(join(pack, "node_modules"));
    // A link to anything must not open it: no package, and a package outside the workspace.
    symlinkSync(join(root, "secrets"), join(pack, "node_modules/linked"));
    symlinkSync(join(root, "beside"), join(pack, "node_modules/beside"));
    symlinkSync(root, join(pack, "node_modules/around"));
    mkdirSync(join(pack, "sub"));
    symlinkSync(join(root, "secrets"), join(pack, "sub/node_modules"));
    const linked = `${pack}/link.json`;
    const quoted = JSON.stringify(linked);
    const result = await attack(pack, {
      outside: `return fs.readFileSync("${root}/secrets/secret.json", "utf8")`,
      dots: `return fs.readFileSync("${pack}/../secrets/secret.json", "utf8")`,
      neighbor: `return fs.readFileSync("${root}/pack-beside/secret.txt", "utf8")`,
      besides: `return fs.readFileSync("${root}/beside/package.json", "utf8")`,
      around: `return fs.readFileSync("${root}/package.json", "utf8")`,
      passwords: `return fs.readFileSync("/etc/shadow", "utf8")`,
      environment: `return fs.readFileSync("/proc/self/environ", "utf8")`,
      list: `return fs.readdirSync("${root}")`,
      sync: `return fs.readFileSync(${quoted}, "utf8")`,
      buffer: `return fs.readFileSync(Buffer.from(${quoted}), "utf8")`,
      url: `return fs.readFileSync(new URL("file://" + ${quoted}), "utf8")`,
      relative: `process.chdir("${pack}"); return fs.readFileSync("link.json", "utf8")`,
      callback: `return new Promise((resolve, reject) => fs.readFile(${quoted}, "utf8", (error, text) => error ? reject(error) : resolve(text)))`,
      promises: `return fs.promises.readFile(${quoted}, "utf8")`,
      imported: `const { readFile } = await import("node:fs/promises"); return readFile(${quoted}, "utf8")`,
      open: `return fs.readFileSync(fs.openSync(${quoted}), "utf8")`,
      handle: `const handle = await fs.promises.open(${quoted}); return handle.readFile("utf8")`,
      stream: `let text = ""; for await (const part of fs.createReadStream(${quoted})) text += part; return text`,
      blob: `return (await fs.openAsBlob(${quoted})).text()`,
      folder: `return fs.readFileSync("${pack}/folder/secret.json", "utf8")`,
      linkedDir: `return fs.opendirSync("${pack}/folder").readSync().name`,
      varyingUrl: `let count = 0; class Varying extends URL { get pathname() { return count++ === 0 ? "${pack}/missing" : super.pathname } }; return fs.readFileSync(new Varying("file://" + ${quoted}), "utf8")`,
      processFile: `return fs.readFileSync("${pack}/self/environ", "utf8")`,
      dependency: `return fs.readFileSync("${pack}/node_modules/linked/secret.json", "utf8")`,
      package: `return fs.readFileSync("${pack}/node_modules/beside/package.json", "utf8")`,
      aroundLinked: `return fs.readFileSync("${pack}/node_modules/around/package.json", "utf8")`,
      modules: `return fs.readFileSync("${pack}/sub/node_modules/secret.json", "utf8")`,
      env: `process.loadEnvFile("${pack}/link.env"); return process.env.SECRET`,
      require: `return require(${quoted}).secret`,
      import: `return (await import(${quoted}, { with: { type: "json" } })).default.secret`,
      loader: `const loaded = {}; require("node:module")._extensions[".json"](loaded, ${quoted}); return loaded.exports.secret`,
      loaderOfCode: `const m = new (require("node:module"))("x"); require("node:module")._extensions[".js"](m, "${pack}/link.cjs"); return m.exports`,
      replaced: `fs.realpathSync.native = (path) => path; return fs.readFileSync(${quoted}, "utf8")`,
      hooks: `require("node:module").registerHooks({ load: (url, context, next) => next(url.includes("hooked") ? "file://" + ${quoted} : url, { ...context, format: "json", importAttributes: { type: "json" } }) }); return (await import("${pack}/hooked.json", { with: { type: "json" } })).default.secret`,
    });

    expect(succeeded(result)).toEqual([]);
  });

  test("a confined pack can read its own files, also by relative paths and links inside it", async () => {
    const root = makeTree({ "package.json": { type: "module" }, "data/own.txt": "own" });
    symlinkSync("data/own.txt", join(root, "link.txt"));
    const result = await attack(root, {
      url: `return fs.readFileSync(new URL("./data/own.txt", import.meta.url), "utf8")`,
      link: `return fs.readFileSync("${root}/link.txt", "utf8")`,
      promises: `return fs.promises.readFile("${root}/data/own.txt", "utf8")`,
      list: `return fs.readdirSync("${root}/data")`,
      stream: `let text = ""; for await (const part of fs.createReadStream("${root}/link.txt")) text += part; return text`,
      missing: `try { fs.readFileSync("${root}/missing") } catch (error) { return error.code }`,
    });
    expect(result).toEqual({
      value: { url: "own", link: "own", promises: "own", list: "own.txt", stream: "own", missing: "ENOENT" },
    });
  });
});
