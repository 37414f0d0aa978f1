import { type Check, findInItem } from "../finding.ts";
import { advertisedName, findTools, isAdvertisable } from "./subjects/tools.ts";

/** App, platform and organisation before a verb and a noun, and a version from 2 on behind them. */
const convention = /^([a-z][a-z0-9]*_){0,3}[a-z][A-Za-z0-9]*(_v[2-9]\d*)?$/;

/** What tools of the host and of whole organisations begin with. */
const reservedPrefixes = ["org_", "ios_", "android_", "mobile_", "web_"];

/** Names of tools that clients take, but that the convention for names advises against. */
export const checkToolNames: Check = function* ({ inspected }) {
  for (const { item, definition, path } of findTools(inspected.items)) {
    const name = advertisedName(definition);
    if (name === undefined || !isAdvertisable(name)) continue;
    const place = [...path, "name"];
    if (!convention.test(name)) yield findInItem(item, "ToolNameConvention", { name }, place);
    const prefix = reservedPrefixes.find((one) => name.startsWith(one));
    if (prefix !== undefined) yield findInItem(item, "ReservedToolPrefix", { name, prefix }, place);
  }
};
