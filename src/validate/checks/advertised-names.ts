import { type Check, findInItem } from "../finding.ts";
import { advertisedName, findTools, isAdvertisable } from "./subjects/tools.ts";

/** Names of tools, entries of bundles and prompts that clients would refuse. */
export const checkAdvertisedNames: Check = function* ({ inspected: { items } }) {
  const prompts = items.flatMap((item) =>
    item.shape === "prompt" ? [{ item, definition: item.definition ?? {}, path: [] }] : [],
  );
  for (const { item, definition, path } of [...findTools(items), ...prompts]) {
    const name = advertisedName(definition);
    if (name !== undefined && !isAdvertisable(name))
      yield findInItem(item, "InvalidAdvertisedName", { name }, [...path, "name"]);
  }
};
