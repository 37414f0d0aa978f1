// Loads packs' modules when they are to run. Plain JavaScript, because the host and the child of `isolation: process`
// (code-child.mjs, which Node runs as it is) both use it. The only `import()` of a pack's code in the host.
import { realpathSync, statSync } from "node:fs";
import { isAbsolute, relative, resolve, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { types } from "node:util";

/** What is missing, or not what it should be, as a sentence. Its `code` is that of the problem. */
export class HandlerNotFoundError extends Error {
  name = "HandlerNotFoundError";
  code = "HandlerNotFound";
}

const quote = (text) => JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text);

/** Real path of a module, which must be a file inside the real `root`. */
function locate(root, file) {
  let realRoot;
  let path;
  try {
    realRoot = realpathSync.native(root);
    path = realpathSync.native(resolve(realRoot, file));
    if (!statSync(path).isFile()) path = undefined;
  } catch {
    path = undefined;
  }
  if (path === undefined) throw new HandlerNotFoundError(`There is no module ${quote(file)} in the package.`);
  const way = relative(realRoot, path);
  if (way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way)) {
    throw new HandlerNotFoundError(`The module ${quote(file)} lies outside the package.`);
  }
  return path;
}

async function load(root, file) {
  const path = locate(root, file);
  const namespace = await import(/* @vite-ignore */ pathToFileURL(path).href);
  if (types.isModuleNamespaceObject(namespace)) return namespace;
  throw new HandlerNotFoundError(`The module ${quote(file)} exports a function called then.`);
}

const own = (object, key) =>
  ((typeof object === "object" && object !== null) || typeof object === "function") &&
  Object.hasOwn(object, key)
    ? object[key]
    : undefined;

/** The default export; that of a module compiled to CommonJS is one level further in. */
function defaultOf(namespace) {
  const exported = own(namespace, "default");
  return own(exported, "__esModule") === true ? own(exported, "default") : exported;
}

function exportOf(namespace, name) {
  if (name === "default") return defaultOf(namespace);
  // Of a CommonJS module, Node does not always find the names.
  return Object.hasOwn(namespace, name) ? namespace[name] : own(namespace.default, name);
}

/**
 * The function that a place names, its module loaded. Rejects with a `HandlerNotFoundError`, or with what the module
 * throws when it is loaded.
 */
export async function loadFunction({ root, source }) {
  if (source.from === "function") return source.run;
  let found;
  let words;
  if (source.from === "module") {
    const hash = source.handler.indexOf("#");
    const file = hash < 0 ? source.handler : source.handler.slice(0, hash);
    const name = hash < 0 ? "default" : source.handler.slice(hash + 1);
    found = exportOf(await load(root, file), name);
    words =
      name === "default"
        ? `${quote(file)} has no default export`
        : `${quote(file)} has no export ${quote(name)}`;
  } else {
    found = source.path.reduce(own, defaultOf(await load(root, source.file)));
    words = `${quote(source.file)} has no ${quote(source.path.join("."))} in its default export`;
  }
  if (typeof found === "function") return found;
  throw new HandlerNotFoundError(
    found === undefined ? `The module ${words}.` : `The module ${words} that is a function.`,
  );
}
