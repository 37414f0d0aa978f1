import { isRecord } from "../data/parse-json.ts";
import { type Path, quote } from "../problems/index.ts";
import type { ConfigFault } from "./config-file.ts";
import { findItemNameFaults, findReferenceFaults } from "./name-faults.ts";
import { formatPath } from "./shape-faults.ts";

const lists = ["tools", "toolsets", "prompts"];

/** Finds faults in the user's composed servers that the schema does not find. */
export function* findServerFaults(servers: unknown): Generator<ConfigFault> {
  yield* findItemNameFaults(servers, "servers");
  for (const [name, server] of isRecord(servers) ? Object.entries(servers) : []) {
    if (!isRecord(server)) continue;
    for (const key of lists) yield* findReferenceFaults(server[key], ["servers", name, key]);
    if (lists.some((key) => server[key] !== undefined)) continue;
    const reason = `\`${formatPath(["servers", name])}\` serves nothing`;
    yield { reason, path: ["servers", name], hint: "Add `tools`, `toolsets` or `prompts`." };
  }
}

/** Finds strings with NUL characters, which operating systems reject. */
function* findZeros(value: unknown, path: Path): Generator<ConfigFault> {
  if (typeof value === "string" && value.includes("\0")) {
    yield { reason: `\`${formatPath(path)}\` contains a NUL character`, path };
  } else if (Array.isArray(value)) {
    for (const [index, entry] of value.entries()) yield* findZeros(entry, [...path, index]);
  } else if (isRecord(value)) {
    for (const [key, entry] of Object.entries(value)) yield* findZeros(entry, [...path, key]);
  }
}

const maximumName = 128;

/** Finds faults in the user's subprocess servers that the schema does not find. */
export function* findSubprocessFaults(servers: unknown): Generator<ConfigFault> {
  const firstByCase = new Map<string, string>();
  for (const [index, server] of Array.isArray(servers) ? servers.entries() : []) {
    if (!isRecord(server)) continue;
    const path = ["trailblazeSubprocessToolsets", index];
    const { name, command, args, cwd, env } = server;
    if (typeof name === "string") {
      const other = firstByCase.get(name.toLowerCase());
      // Log files have these names, and some file systems ignore case.
      if (other !== undefined) {
        const reason =
          other === name
            ? `two servers have the name ${quote(name)}`
            : `the names ${quote(other)} and ${quote(name)} differ only in case`;
        yield { reason, path: [...path, "name"] };
      }
      firstByCase.set(name.toLowerCase(), other ?? name);
      if (name.length > maximumName || /\p{C}/u.test(name)) {
        const reason = `\`${formatPath([...path, "name"])}\` is longer than ${maximumName} characters or contains unprintable characters`;
        yield { reason, path: [...path, "name"] };
      }
    }
    yield* findZeros(command, [...path, "command"]);
    yield* findZeros(args, [...path, "args"]);
    yield* findZeros(cwd, [...path, "cwd"]);
    yield* findZeros(env, [...path, "env"]);
    for (const variable of isRecord(env) ? Object.keys(env) : []) {
      if (variable !== "" && !/[=\0]/.test(variable)) continue;
      yield { reason: `${quote(variable)} is not a valid variable name`, path: [...path, "env", variable] };
    }
  }
}
