import { findMisspelledKeys } from "../../extension-schema/index.ts";
import { quote } from "../../problems/index.ts";
import { type Check, findInItem, findInManifest } from "../finding.ts";

/** More misspelled keys of one definition tell its author nothing new. */
const maximumReported = 100;

/** Keys of definitions that mean nothing and are like one that is absent: what they say would be lost in silence. */
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

/** Keys of package.json and of the field that are there more than once: readers see the first, programs take the last. */
export const checkRepeatedKeys: Check = function* ({ inspected, repeatedKeys = [] }) {
  const { location, origin } = inspected.pack;
  for (const path of repeatedKeys) {
    const key = quote(String(path.at(-1)), 40);
    if (path[0] === "trailblaze") {
      const args = {
        what: `The key ${key}`,
        expected: "there once",
        found: "there again; only the last one counts",
      };
      yield findInManifest("MalformedExtension", args, path, { path: path.slice(1) });
    } else {
      const reason = `the key ${key} is there twice, and only the last one counts`;
      const isSource = origin === "self" || origin === "workspace";
      yield findInManifest("MalformedPackageJson", { reason, location, isSource }, path);
    }
  }
};
