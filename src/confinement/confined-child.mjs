// The program of the confined child process. It closes the gaps of Node's permission model, imports the requested
// definition files one after the other, and writes each one's default export to a pipe as data. A pack that changes
// built-in objects changes its own answers at most.
import fs from "node:fs";
import module from "node:module";
import os from "node:os";
import { fileURLToPath, pathToFileURL } from "node:url";
import { types } from "node:util";
import v8 from "node:v8";

const { isModuleNamespaceObject, isNativeError, isProxy, isUint8Array } = types;
const { readFileSync, writeSync } = fs;
const realPath = fs.realpathSync.native;
const exit = process.reallyExit.bind(process);
const { getOwnPropertyDescriptor, getPrototypeOf } = Object;

const answerPipe = 3;
/** Exit code: no answer can be sent, because the pack has closed the pipe. */
const answerLost = 98;

const { files, answerBytes, tooLarge, wallMs, maximumDepth } = JSON.parse(readFileSync(0, "utf8"));

// ---- Gaps of the permission model ----

/** Removes every way to the original. The pack may still define a property of its own. */
function replace(target, name, value) {
  if (name in target) Object.defineProperty(target, name, { value, configurable: true, writable: true });
}

/** Replaces functions and classes by one that throws, so that importing them still works. */
function refuse(target, names) {
  for (const name of names) {
    replace(target, name, function refused() {
      throw new Error(`${name} is not available in confinement`);
    });
  }
}

function refuseAllBut(target, allowed) {
  refuse(
    target,
    Object.keys(target).filter((name) => typeof target[name] === "function" && !allowed.includes(name)),
  );
}

function closeDoors() {
  refuse(process, ["kill", "_kill", "_debugProcess", "_debugEnd", "abort", "execve", "loadEnvFile"]);
  refuse(process, ["binding", "_linkedBinding", "dlopen"]);
  // It reveals the host's name and addresses. Undefined, because callers test for that.
  replace(process, "report", undefined);
  refuse(os, ["setPriority"]);
  refuse(module, ["register", "registerHooks"]);
  // They change limits or write files.
  refuse(v8, ["setFlagsFromString", "setHeapSnapshotNearHeapLimit", "writeHeapSnapshot"]);
  // Both bypass the permission model and write files: the first in Node 20, the second from 22 on.
  refuse(process.getBuiltinModule("node:trace_events"), ["createTracing"]);
  const sqlite = process.getBuiltinModule("node:sqlite");
  if (sqlite !== undefined) refuse(sqlite, ["DatabaseSync", "backup"]);
}

function refuseHandle(handle) {
  if (typeof handle !== "object" || handle === null) return;
  const names = ["bind", "bind6", "connect", "connect6", "listen", "open", "send", "send6"];
  refuse(getPrototypeOf(handle), names);
}

/** Kept, because the handle closes its descriptor when it is garbage collected. */
let standardInput;

/** The kernel cannot always remove the network, and never covers sockets in a readable folder. */
function refuseNetwork() {
  const net = process.getBuiltinModule("node:net");
  const dgram = process.getBuiltinModule("node:dgram");
  const dns = process.getBuiltinModule("node:dns");
  for (const names of [dns, dns.promises]) {
    refuseAllBut(names.Resolver.prototype, []);
    refuseAllBut(names, ["Resolver", "getServers", "getDefaultResultOrder", "setDefaultResultOrder"]);
  }
  // These create the handles below sockets. Not every Node has them.
  standardInput = new net.Socket({ fd: 0, readable: false, writable: false });
  const handles = [
    net._createServerHandle?.("127.0.0.1", 0, 4),
    dgram._createSocketHandle?.(null, 0, "udp4"),
    standardInput._handle,
  ];
  for (const handle of handles) refuseHandle(handle);
  handles[0]?.close?.();
  handles[1]?.close?.();
  refuse(net, ["_createServerHandle"]);
  refuse(dgram, ["_createSocketHandle"]);
  refuse(net.Socket.prototype, ["connect"]);
  refuse(net.Server.prototype, ["listen"]);
  refuse(dgram.Socket.prototype, ["bind", "connect", "send", "sendto"]);
}

/** The path with links resolved, which the permission model then checks. */
function withoutLinks(path) {
  if (typeof path === "number") return path;
  if (typeof path !== "string") path = isUint8Array(path) ? `${Buffer.from(path)}` : fileURLToPath(path);
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
      if (original === undefined) continue;
      replace(target, name, (path, ...others) => original(withoutLinks(path), ...others));
    }
  }
}

// ---- Data ----

let failure;

/** Ends the evaluation of a file with a reason for the host. */
function fail(reason) {
  failure = { reason: reason.slice(0, 1000) };
  throw failure;
}

function refuseValue(what, place) {
  fail(`it is not data: ${place === "" ? `the default export is ${what}` : `${what} at ${place}`}`);
}

/** An own property of an object, if it is a string; runs no getter. */
function stringOf(object, key) {
  const value = getOwnPropertyDescriptor(object, key)?.value;
  return typeof value === "string" ? value.slice(0, 1000) : "";
}

function describeInstance(prototype) {
  if (prototype === null || isProxy(prototype)) return "an object of a class";
  const maker = getOwnPropertyDescriptor(prototype, "constructor")?.value;
  const name = typeof maker === "function" && !isProxy(maker) ? stringOf(maker, "name") : "";
  return name === "" ? "an object of a class" : `an object of the class ${name}`;
}

let size = 0;

function count(text) {
  size += text.length;
  if (size > answerBytes) fail(tooLarge);
  return text;
}

/** A value as JSON. Runs no code of the pack: no getter, no trap, no `toJSON`. `above` are the objects around it. */
function write(value, place, above) {
  switch (typeof value) {
    case "string":
    case "boolean":
      return count(JSON.stringify(value));
    case "number":
      return Number.isFinite(value) ? count(`${value}`) : refuseValue(`${value}`, place);
    case "bigint":
      return refuseValue("a BigInt", place);
    case "symbol":
      return refuseValue("a symbol", place);
    case "undefined":
      return refuseValue("undefined", place);
  }
  if (value === null) return count("null");
  if (isProxy(value)) refuseValue("a proxy", place);
  if (above.includes(value)) refuseValue("a cycle", place);
  if (above.length >= maximumDepth)
    fail(`it is not data: it is nested more than ${maximumDepth} levels deep`);
  if (typeof value === "function") return count(`{"$function":${JSON.stringify(stringOf(value, "name"))}}`);
  const isList = Array.isArray(value);
  const prototype = getPrototypeOf(value);
  if (prototype !== (isList ? Array.prototype : Object.prototype) && (isList || prototype !== null))
    refuseValue(describeInstance(prototype), place);
  count("{}");
  const inside = [...above, value];
  const parts = [];
  if (isList) {
    for (let index = 0; index < value.length; index++) {
      const at = `${place}[${index}]`;
      const property = getOwnPropertyDescriptor(value, index);
      if (property === undefined) refuseValue("a hole", at);
      if (!Object.hasOwn(property, "value")) refuseValue("a getter", at);
      // As in JSON: an element without a value keeps its place.
      parts.push(write(property.value === undefined ? null : property.value, at, inside));
    }
    return `[${parts.join(",")}]`;
  }
  for (const key of Object.keys(value)) {
    const at = place === "" ? key : `${place}.${key}`;
    const property = getOwnPropertyDescriptor(value, key);
    if (!Object.hasOwn(property, "value")) refuseValue("a getter", at);
    if (property.value === undefined) continue;
    if (key === "$function") refuseValue("the reserved key $function", at);
    parts.push(count(`${JSON.stringify(key)}:`) + write(property.value, at, inside));
  }
  return `{${parts.join(",")}}`;
}

const noDefault = "it has no default export";

/** The default export; for a module compiled to CommonJS, the one inside it. */
function defaultExportOf(namespace) {
  if (!isModuleNamespaceObject(namespace)) fail("it is not data: it exports a function named then");
  const exported = getOwnPropertyDescriptor(namespace, "default");
  if (exported === undefined) fail(noDefault);
  const { value } = exported;
  if (typeof value !== "object" || value === null || isProxy(value)) return value;
  if (getOwnPropertyDescriptor(value, "__esModule")?.value !== true) return value;
  if (!Object.hasOwn(value, "default")) fail(noDefault);
  // Bundlers define it as a getter.
  return value.default;
}

// ---- Answers ----

/** The stack, which the pack can forge; used only to find a position. */
function stackOf(error) {
  try {
    const { stack } = error;
    return typeof stack === "string" ? stack.slice(0, 4000) : "";
  } catch {
    return "";
  }
}

function describeThrown(thrown) {
  if (typeof thrown === "string") return { message: thrown.slice(0, 1000) };
  if (typeof thrown !== "object" || thrown === null || isProxy(thrown) || !isNativeError(thrown))
    return { message: "a value that is not an error" };
  const permission = stringOf(thrown, "code") === "ERR_ACCESS_DENIED" ? stringOf(thrown, "permission") : "";
  const allowed =
    permission === "FileSystemRead" ? ", except for the package and the node_modules folders above it" : "";
  return {
    message:
      permission === ""
        ? stringOf(thrown, "message")
        : `${permission} is not allowed in confinement${allowed}`,
    stack: stackOf(thrown),
    isSyntaxError: getPrototypeOf(thrown) === SyntaxError.prototype,
  };
}

async function evaluate(url) {
  failure = undefined;
  try {
    const value = defaultExportOf(await import(url));
    size = 0;
    const text = write(value, "", []);
    if (Buffer.byteLength(text) > answerBytes) fail(tooLarge);
    return `value ${text}`;
  } catch (thrown) {
    const isOurs = failure !== undefined && thrown === failure;
    return `fault ${JSON.stringify(isOurs ? failure : describeThrown(thrown))}`;
  }
}

const temporary = process.env.TMPDIR;
const kept = temporary === undefined ? ["TEMP", "TMP", "SYSTEMROOT"] : [];
// The pack's code sees no variables, but can still load from its own folder.
for (const name of Object.keys(process.env)) if (!kept.includes(name.toUpperCase())) delete process.env[name];
if (temporary !== undefined) os.tmpdir = () => temporary;
const urls = files.map((file) => pathToFileURL(file).href);
closeDoors();
refuseNetwork();
resolveLinksBeforeReading();
module.syncBuiltinESMExports();
// Late errors of a file do not affect the others.
process.on("uncaughtException", () => {});
// Where the kernel does not end it together with the host.
setTimeout(exit, wallMs + 1000, 0).unref();

for (const [index, url] of urls.entries()) {
  // It starts with a line break, so that it is not part of the pack's output.
  const line = `\n${index} ${await evaluate(url)}\n`;
  try {
    if (writeSync(answerPipe, line) === Buffer.byteLength(line)) continue;
  } catch {}
  exit(answerLost);
}
