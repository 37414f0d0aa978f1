import { findMisspeltKeys } from "../../extension-schema/index.ts";
import { type Check, findInItem } from "../finding.ts";

/** More misspelt keys of one definition tell its author nothing new. */
const maximumReported = 100;

/** Keys of definitions that mean nothing and are like one that is absent: what they say would be lost in silence. */
export const checkDefinitionKeys: Check = function* ({ inspected }) {
  for (const item of inspected.items) {
    const { shape, definition } = item;
    if (shape === undefined || definition === null) continue;
    let reported = 0;
    for (const { key, suggestion, path } of findMisspeltKeys(shape, definition)) {
      if (++reported > maximumReported) break;
      yield findInItem(item, "UnknownDefinitionKey", { key, suggestion }, path);
    }
  }
};
