// The program of the confined child process. It closes the gaps of Node's permission model, imports the requested
// definition files one after the other, and writes each one's default export to a pipe as data. A pack that changes
// built-in objects changes its own answers at most.
import fs from "node:fs";
import module from "node:module";
import os from "node:os";
import { fileURLToPath, pathToFileURL } from "node:url";

/** The pack may replace the original. */
const realPath = fs.realpathSync.native;
const answerPipe = 3;
const { files, answerBytes, tooLarge, wallMs } = JSON.parse(fs.readFileSync(0, "utf8"));

// ---- Gaps of the permission model ----

/** Removes every way to the original. Importing it still works. */
function replace(target, name, value) {
  if (name in target) Object.defineProperty(target, name, { value, configurable: true, writable: true });
}

function refuse(target, names) {
  for (const name of names) {
    replace(target, name, function refused() {
      throw new Error(`${name} is not available in confinement`);
    });
  }
}

/** Kept, because its handle closes the descriptor when it is garbage collected. */
let standardInput;

function closeDoors() {
  const load = (name) => process.getBuiltinModule(`node:${name}`) ?? {};
  refuse(process, ["kill", "_kill", "_debugProcess", "_debugEnd", "abort", "execve", "loadEnvFile"]);
  refuse(process, ["binding", "_linkedBinding", "dlopen"]);
  // It reveals the host's name and addresses. Undefined, because callers test for that.
  replace(process, "report", undefined);
  refuse(os, ["setPriority"]);
  refuse(module, ["register", "registerHooks"]);
  // These change limits or write files.
  refuse(load("v8"), ["setFlagsFromString", "setHeapSnapshotNearHeapLimit", "writeHeapSnapshot"]);
  refuse(load("trace_events"), ["createTracing"]);
  refuse(load("sqlite"), ["DatabaseSync", "backup"]);
  // The kernel cannot always remove the network, and never the sockets of other programs that are files.
  const [net, dgram, dns] = [load("net"), load("dgram"), load("dns")];
  // Below sockets are handles, which every socket has. Not every Node has the functions that create them.
  standardInput = new net.Socket({ fd: 0, readable: false, writable: false });
  const handles = [
    net._createServerHandle?.("127.0.0.1", 0, 4),
    dgram._createSocketHandle?.(null, 0, "udp4"),
    standardInput._handle,
  ];
  for (const handle of handles) {
    const names = ["bind", "bind6", "connect", "connect6", "listen", "open", "send", "send6"];
    if (typeof handle === "object") refuse(Object.getPrototypeOf(handle ?? {}), names);
    if (handle !== standardInput._handle) handle?.close?.();
  }
  refuse(net, ["_createServerHandle"]);
  refuse(net.Socket.prototype, ["connect"]);
  refuse(net.Server.prototype, ["listen"]);
  refuse(dgram, ["_createSocketHandle"]);
  refuse(dgram.Socket.prototype, ["bind", "connect", "send", "sendto"]);
  for (const names of [dns, dns.promises, dns.Resolver.prototype, dns.promises.Resolver.prototype])
    refuse(
      names,
      Object.keys(names).filter((name) => /^(?:lookup|resolve|reverse)/.test(name)),
    );
}

/** The path with links resolved, which the permission model then checks. */
function withoutLinks(path) {
  if (typeof path === "number") return path;
  // Other objects could differ the next time that they are read.
  if (typeof path !== "string")
    path = path instanceof Uint8Array ? `${Buffer.from(path)}` : fileURLToPath(path);
  try {
    return realPath(path);
  } catch (error) {
    if (error.code === "ENOENT") return path;
    throw error;
  }
}

/** The permission model checks paths as written, so a link could lead out of the readable folders. */
function resolveLinksBeforeReading() {
  const names = ["readFile", "open", "opendir", "readdir", "openAsBlob"];
  for (const target of [fs, fs.promises]) {
    for (const name of target === fs ? [...names, ...names.map((name) => `${name}Sync`)] : names) {
      const original = target[name];
      replace(target, name, (path, ...others) => original(withoutLinks(path), ...others));
    }
  }
}

// ---- Data ----

/** Ends the evaluation of a file with a reason for the host. */
class NotData extends Error {}

function fail(reason) {
  throw new NotData(reason);
}

/** What is not data, in words; `undefined` for data. */
function findFault(value) {
  if (typeof value === "number") return Number.isFinite(value) ? undefined : `${value}`;
  if (typeof value !== "object") return `a ${typeof value}`;
  const prototype = Object.getPrototypeOf(value);
  if (Array.isArray(value) || prototype === Object.prototype || prototype === null) return undefined;
  const { name } = value.constructor ?? {};
  return typeof name === "string" && name !== "" ? `an object of the class ${name}` : "an object of a class";
}

/** A value as JSON. As in JSON, an element without a value keeps its place. */
function write(value) {
  const open = [];
  return JSON.stringify(value, function toData(key) {
    // `toJSON` of a class would make data of its objects.
    const member = this[key];
    if (typeof member === "function") return { $function: `${member.name}`.slice(0, 200) || "anonymous" };
    if (member === undefined || member === null || /^(?:string|boolean)$/.test(typeof member)) return member;
    // JSON.stringify refuses a cycle only after it has called this function.
    while (open.length > 0 && open.at(-1) !== this) open.pop();
    const fault = open.includes(member) ? "a cycle" : findFault(member);
    if (fault !== undefined)
      fail(`it is not data: ${key === "" ? `the default export is ${fault}` : `${fault} at ${key}`}`);
    if (typeof member === "object") open.push(member);
    return member;
  });
}

/** The default export; for a module compiled to CommonJS, the one inside it. */
function defaultExportOf({ default: exported }) {
  const isCompiled = typeof exported === "object" && exported?.__esModule === true;
  return (isCompiled ? exported.default : exported) ?? fail("it has no default export");
}

// ---- Answers ----

function describeThrown(thrown) {
  if (thrown instanceof NotData) return { reason: thrown.message.slice(0, 1000) };
  if (typeof thrown === "string") return { message: thrown.slice(0, 1000) };
  if (!(thrown instanceof Error)) return { message: "a value that is not an error" };
  const { permission, code, message, stack } = thrown;
  const allowed =
    permission === "FileSystemRead" ? ", except for the package and the node_modules folders above it" : "";
  return {
    message:
      code === "ERR_ACCESS_DENIED"
        ? `${permission} is not allowed in confinement${allowed}`
        : `${message}`.slice(0, 1000),
    // The pack can forge it; it only shows a position.
    stack: `${stack}`.slice(0, 4000),
    isSyntaxError: Object.getPrototypeOf(thrown) === SyntaxError.prototype,
  };
}

async function evaluate(url) {
  try {
    const value = defaultExportOf(await import(url));
    const text = write(value);
    if (Buffer.byteLength(text) > answerBytes) fail(tooLarge);
    return `value ${text}`;
  } catch (thrown) {
    try {
      return `fault ${JSON.stringify(describeThrown(thrown))}`;
    } catch {
      return 'fault {"message":"a value that cannot be read"}';
    }
  }
}

const temporary = process.cwd();
os.tmpdir = () => temporary;
// Windows needs this one.
for (const name of Object.keys(process.env))
  if (name.toUpperCase() !== "SYSTEMROOT") delete process.env[name];
const urls = files.map((file) => pathToFileURL(file).href);
closeDoors();
resolveLinksBeforeReading();
module.syncBuiltinESMExports();
// Late errors of a file do not affect the others.
process.on("uncaughtException", () => {});
const { reallyExit } = process;
// If nothing else ends it, because the host is gone.
setTimeout(reallyExit, wallMs + 1000, 0).unref();

// Each answer begins with a line break, so that it is not part of the pack's output.
for (const [index, url] of urls.entries()) fs.writeSync(answerPipe, `\n${index} ${await evaluate(url)}\n`);
// A pack may leave what would keep the process alive.
reallyExit(0);
