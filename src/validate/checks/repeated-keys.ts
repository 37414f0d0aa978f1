import { quote } from "../../problems/index.ts";
import { type Check, findInManifest } from "../finding.ts";

/** Keys of the field that are there more than once: readers see the first, programs take the last. */
export const checkRepeatedKeys: Check = function* ({ repeatedKeys = [] }) {
  for (const path of repeatedKeys) {
    const what = `The key ${quote(String(path.at(-1)), 40)}`;
    const args = { what, expected: "there once", found: "there again; only the last one counts" };
    yield findInManifest("MalformedExtension", args, path, { path: path.slice(1) });
  }
};
