import { isRecord } from "../data/parse-json.ts";
import type { ConfigFault } from "./config-file.ts";
import { findItemNameFaults, findReferenceFaults } from "./name-faults.ts";
import { formatPath } from "./shape-faults.ts";

const lists = ["tools", "toolsets", "prompts", "resources"];

/** Finds faults in the user's composed servers that the schema does not find. */
export function* findServerFaults(servers: unknown): Generator<ConfigFault> {
  yield* findItemNameFaults(servers, "servers");
  for (const [name, server] of isRecord(servers) ? Object.entries(servers) : []) {
    if (!isRecord(server)) continue;
    for (const key of lists) yield* findReferenceFaults(server[key], ["servers", name, key]);
    if (lists.some((key) => server[key] !== undefined)) continue;
    const reason = `\`${formatPath(["servers", name])}\` serves nothing`;
    yield { reason, path: ["servers", name], hint: "Add `tools`, `toolsets`, `prompts` or `resources`." };
  }
}
