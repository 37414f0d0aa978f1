import { findMisspelledKeys } from "../../extension-schema/index.ts";
import { quote } from "../../problems/index.ts";
import { type Check, findInItem, findInManifest } from "../finding.ts";

/** Limit on the reported keys of one definition. */
const maximumReported = 100;

/** Finds misspelled keys of definitions, whose values would be silently ignored. */
export const checkDefinitionKeys: Check = function* ({ inspected }) {
  for (const item of inspected.items) {
    const { shape, definition } = item;
    if (shape === undefined || definition === null) continue;
    let reported = 0;
    for (const { key, suggestion, path } of findMisspelledKeys(shape, definition)) {
      if (++reported > maximumReported) break;
      yield findInItem(item, "UnknownDefinitionKey", { key, suggestion }, path);
    }
  }
};

/** Finds duplicate keys of package.json and the field: people may read the first one, programs use the last one. */
export const checkRepeatedKeys: Check = async function* ({ inspected, repeatedKeys }) {
  const { location, origin } = inspected.pack;
  for (const path of await repeatedKeys()) {
    const key = quote(String(path.at(-1)), 40);
    if (path[0] === "trailblaze") {
      const args = {
        what: `The key ${key}`,
        expected: "unique",
        found: "duplicated; only the last one is used",
      };
      yield findInManifest("MalformedExtension", args, path, { path: path.slice(1) });
    } else {
      const reason = `the key ${key} is duplicated; only the last one is used`;
      const isSource = origin === "self" || origin === "workspace";
      yield findInManifest("MalformedPackageJson", { reason, location, isSource }, path);
    }
  }
};
