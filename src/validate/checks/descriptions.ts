import { quote } from "../../problems/index.ts";
import { type Check, findInItem } from "../finding.ts";
import { describeTool, findTools } from "./subjects/tools.ts";

const isBlank = (text: unknown) => typeof text !== "string" || text.trim() === "";

/** Items that neither their declaration nor their definition describes, and entries of bundles without description. */
export const checkDescriptions: Check = function* ({ inspected }) {
  for (const item of inspected.items) {
    const { declaration, definition, shape } = item;
    // A server's definition has no place for a description, and a bundle says of each entry what it is for.
    if (definition === null || declaration.kind === "server" || shape === "toolsBundle") continue;
    if (!isBlank(declaration.description) || !isBlank(definition.description)) continue;
    const what = `The ${declaration.kind} ${quote(declaration.name)}`;
    yield findInItem(item, "MissingDescription", { what });
  }
  for (const tool of findTools(inspected.items)) {
    if (!tool.isEntry || !isBlank(tool.definition.description)) continue;
    yield findInItem(tool.item, "MissingDescription", { what: `The ${describeTool(tool)}` }, tool.path);
  }
};
