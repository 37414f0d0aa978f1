// The program of the confined child process. It closes the gaps of Node's permission model, imports the requested
// definition files one after the other, and writes each one's default export to a pipe as data.
//
// From the first import on, the pack controls everything in this process, prototypes included. So everything that
// answers need is captured first, and their code uses no methods of prototypes, no iteration and no spreading. The
// secret that authenticates answers stays in a variable of this module and in strings: a Buffer could be found.
import fs from "node:fs";
import module from "node:module";
import os from "node:os";
import { fileURLToPath, pathToFileURL } from "node:url";
import { types } from "node:util";
import v8 from "node:v8";

const { apply, getOwnPropertyDescriptor, getPrototypeOf, ownKeys } = Reflect;
const { defineProperty, hasOwn } = Object;
const { stringify } = JSON;
const { isArray } = Array;
const isFiniteNumber = Number.isFinite;
const { byteLength } = Buffer;
const { isModuleNamespaceObject, isNativeError, isProxy, isUint8Array } = types;
const { readFileSync, writeSync } = fs;
const realPath = fs.realpathSync.native;
const exit = process.reallyExit.bind(process);
const slice = String.prototype.slice;
const objectPrototype = Object.prototype;
const arrayPrototype = Array.prototype;
const syntaxErrorPrototype = SyntaxError.prototype;

const answerPipe = 3;
/** Exit code: a folder that may be read does not exist. */
const somethingMissing = 99;
/** Exit code: no answer can be sent, because the pack has closed or changed the pipe. */
const answerLost = 98;

const { secret, files, visible, answerBytes, maximumDepth } = JSON.parse(readFileSync(0, "utf8"));

// ---- Gaps of the permission model ----

/** Removes every way to the original. The pack may still define a property of its own. */
function replace(target, name, value) {
  if (name in target) defineProperty(target, name, { value, configurable: true, writable: true });
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
  // The others can change limits, write files, or reveal every string in memory.
  refuseAllBut(v8, [
    "serialize",
    "deserialize",
    "Serializer",
    "Deserializer",
    "DefaultSerializer",
    "DefaultDeserializer",
    "getHeapStatistics",
    "cachedDataVersionTag",
  ]);
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
      replace(target, name, function read(path) {
        // biome-ignore lint/complexity/noArguments: spreading would run the pack's iterator
        const args = arguments;
        args[0] = withoutLinks(path);
        return apply(original, undefined, args);
      });
    }
  }
}

/**
 * Makes `require` report a package that may not be read as missing: code with optional dependencies expects that error.
 */
function reportRefusedAsMissing() {
  const original = module._resolveFilename;
  if (original === undefined) return;
  replace(module, "_resolveFilename", function resolve(request) {
    try {
      // biome-ignore lint/complexity/noArguments: spreading would run the pack's iterator
      return apply(original, this, arguments);
    } catch (error) {
      const start = typeof request === "string" ? apply(slice, request, [0, 1]) : "";
      const isPath = start === "" || start === "." || start === "/" || apply(slice, request, [1, 2]) === ":";
      if (isPath || error?.code !== "ERR_ACCESS_DENIED") throw error;
      const missing = new Error(`Cannot find module '${request}'`);
      missing.code = "MODULE_NOT_FOUND";
      throw missing;
    }
  });
}

// ---- Data ----

let failure;

/** Ends the evaluation of a file with a fault for the host. */
function fail(fault) {
  failure = fault;
  throw fault;
}

function placeOf(frame) {
  let place = "";
  for (let at = frame; at.up !== undefined; at = at.up) {
    const key = typeof at.key === "number" ? `[${at.key}]` : at.up.up === undefined ? at.key : `.${at.key}`;
    place = key + place;
  }
  return place === "" ? "the default export" : place;
}

function refuseValue(what, frame) {
  const place = placeOf(frame);
  fail({
    kind: "notData",
    what: place === "the default export" ? `${place} is ${what}` : `${what} at ${place}`,
  });
}

/** The name of a function or class, if it is a plain string property. */
function nameOf(named) {
  const name = getOwnPropertyDescriptor(named, "name");
  if (name === undefined || !hasOwn(name, "value") || typeof name.value !== "string") return "";
  return apply(slice, name.value, [0, 200]);
}

function describeInstance(prototype) {
  if (prototype === null || isProxy(prototype)) return "an object of a class";
  const maker = getOwnPropertyDescriptor(prototype, "constructor")?.value;
  const name = typeof maker === "function" && !isProxy(maker) ? nameOf(maker) : "";
  return name === "" ? "an object of a class" : `an object of the class ${name}`;
}

let size = 0;

function count(text) {
  size += text.length;
  if (size > answerBytes) fail({ kind: "tooLarge" });
  return text;
}

function writeObject(value, frame) {
  const keys = ownKeys(value);
  let text = "";
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index];
    if (typeof key === "symbol") continue;
    const property = getOwnPropertyDescriptor(value, key);
    if (property === undefined || !property.enumerable) continue;
    const inner = { value: undefined, key, depth: frame.depth + 1, up: frame };
    if (!hasOwn(property, "value")) refuseValue("a getter", inner);
    if (property.value === undefined) continue;
    if (key === "$function") refuseValue("the reserved key $function", inner);
    inner.value = property.value;
    text += count(`${text === "" ? "" : ","}${stringify(key)}:`) + write(inner);
  }
  return `{${text}}`;
}

function writeArray(value, frame) {
  const length = getOwnPropertyDescriptor(value, "length").value;
  let text = "";
  for (let index = 0; index < length; index++) {
    const element = getOwnPropertyDescriptor(value, index);
    const inner = { value: undefined, key: index, depth: frame.depth + 1, up: frame };
    if (element === undefined) refuseValue("a hole", inner);
    if (!hasOwn(element, "value")) refuseValue("a getter", inner);
    // As in JSON: the element keeps its place.
    inner.value = element.value === undefined ? null : element.value;
    text += count(index === 0 ? "" : ",") + write(inner);
  }
  return `[${text}]`;
}

/** The value of a frame as JSON. Runs no code of the pack: no getter, no trap, no `toJSON`. */
function write(frame) {
  const { value } = frame;
  if (value === null) return count("null");
  switch (typeof value) {
    case "string":
      return count(stringify(value));
    case "boolean":
      return count(value ? "true" : "false");
    case "number":
      if (!isFiniteNumber(value)) refuseValue(`${value}`, frame);
      return count(`${value}`);
    case "bigint":
      return refuseValue("a BigInt", frame);
    case "symbol":
      return refuseValue("a symbol", frame);
    case "undefined":
      return refuseValue("undefined", frame);
  }
  if (isProxy(value)) refuseValue("a proxy", frame);
  for (let at = frame.up; at !== undefined; at = at.up) if (at.value === value) refuseValue("a cycle", frame);
  if (frame.depth > maximumDepth) fail({ kind: "tooDeep" });
  if (typeof value === "function") return count(`{"$function":${stringify(nameOf(value))}}`);
  count("{}");
  const prototype = getPrototypeOf(value);
  if (isArray(value) && prototype === arrayPrototype) return writeArray(value, frame);
  if (prototype !== objectPrototype && prototype !== null) refuseValue(describeInstance(prototype), frame);
  return writeObject(value, frame);
}

/** The default export; for a module compiled to CommonJS, the one inside it. */
function defaultExportOf(namespace) {
  if (!isModuleNamespaceObject(namespace))
    fail({ kind: "notData", what: "it exports a function named then" });
  const exported = getOwnPropertyDescriptor(namespace, "default");
  if (exported === undefined) fail({ kind: "noDefault" });
  const { value } = exported;
  if (typeof value !== "object" || value === null || isProxy(value)) return value;
  const marker = getOwnPropertyDescriptor(value, "__esModule");
  if (marker === undefined || marker.value !== true) return value;
  if (!hasOwn(value, "default")) fail({ kind: "noDefault" });
  // Bundlers define it as a getter.
  return value.default;
}

// ---- Faults ----

function stringOf(object, key) {
  const property = getOwnPropertyDescriptor(object, key);
  return property !== undefined && typeof property.value === "string" ? property.value : "";
}

/** The stack, which the pack can forge; used only to find a position. */
function stackOf(error) {
  try {
    const { stack } = error;
    return typeof stack === "string" ? apply(slice, stack, [0, 4000]) : "";
  } catch {
    return "";
  }
}

function describeThrown(thrown) {
  if (typeof thrown === "string") return { kind: "threw", message: apply(slice, thrown, [0, 1000]) };
  if (typeof thrown !== "object" || thrown === null || isProxy(thrown) || !isNativeError(thrown)) {
    return { kind: "threw", message: "a value that is not an error" };
  }
  const permission = stringOf(thrown, "code") === "ERR_ACCESS_DENIED" ? stringOf(thrown, "permission") : "";
  const message = apply(slice, stringOf(thrown, "message"), [0, 1000]);
  const allowed =
    permission === "FileSystemRead" ? ", except for the package and its declared dependencies" : "";
  return {
    kind: "threw",
    message: permission === "" ? message : `${permission} is not allowed in confinement${allowed}`,
    stack: stackOf(thrown),
    isSyntaxError: getPrototypeOf(thrown) === syntaxErrorPrototype,
  };
}

function writeFault(fault) {
  let text = `{"kind":${stringify(fault.kind)}`;
  if (fault.what !== undefined) text += `,"what":${stringify(apply(slice, fault.what, [0, 1000]))}`;
  if (fault.message !== undefined) text += `,"message":${stringify(fault.message)}`;
  if (fault.stack !== undefined) text += `,"stack":${stringify(fault.stack)}`;
  if (fault.isSyntaxError) text += ',"isSyntaxError":true';
  return `${text}}`;
}

// ---- Answers ----

/** Sends one line to the host. It starts with a line break, so that the pack's output cannot precede the secret. */
function send(message) {
  const line = `\n${secret} ${message}\n`;
  try {
    if (writeSync(answerPipe, line) === byteLength(line)) return;
  } catch {}
  exit(answerLost);
}

async function evaluate(index) {
  let answer;
  failure = undefined;
  try {
    const value = defaultExportOf(await import(files[index].url));
    size = 0;
    const text = write({ value, key: "", depth: 1, up: undefined });
    if (byteLength(text) > answerBytes) fail({ kind: "tooLarge" });
    answer = `value ${text}`;
  } catch (thrown) {
    answer = `fault ${writeFault(failure !== undefined && thrown === failure ? failure : describeThrown(thrown))}`;
  }
  send(`${index} ${answer}`);
}

const kept = new Set(["TMPDIR", "TEMP", "TMP", "SYSTEMROOT"]);
for (const name of Object.keys(process.env)) if (!kept.has(name.toUpperCase())) delete process.env[name];
const temporary = process.env.TMPDIR;
if (temporary !== undefined) {
  process.chdir(temporary);
  // The pack's code sees no variables, but can still load from its own folder.
  delete process.env.TMPDIR;
  os.tmpdir = () => temporary;
}
for (const path of visible) if (!fs.existsSync(path)) exit(somethingMissing);
for (const file of files) file.url = pathToFileURL(file.path).href;

closeDoors();
refuseNetwork();
resolveLinksBeforeReading();
reportRefusedAsMissing();
module.syncBuiltinESMExports();
// With another constructor, `await` would call the pack's `then` with the awaited value.
defineProperty(Promise.prototype, "constructor", { writable: false, configurable: false });
// Late errors of a file do not affect the others.
process.on("uncaughtException", () => {});

send("ready");
try {
  for (let index = 0; index < files.length; index++) await evaluate(index);
} catch {
  exit(answerLost);
}
