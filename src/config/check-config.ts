import { describeType, isRecord } from "../data/parse-json.ts";
import type { TrailblazeError } from "../problems/index.ts";
import { type ConfigFault, type ConfigText, configFailure, describeConfigFaults } from "./config-file.ts";
import {
  findItemNameFaults,
  findMemoryFaults,
  findOptionsFaults,
  findReferenceFaults,
} from "./name-faults.ts";
import { findPacksFaults, isMisspelledPacks } from "./packs-config.ts";
import { checkShape, formatPath, type ShapeCheck } from "./shape-faults.ts";
import { findUserServerFaults } from "./user-server-faults.ts";

const lists = ["tools", "toolsets", "prompts", "resources"];

/** Finds faults in the user's composed servers that the schema does not find. */
function* findServerFaults(servers: unknown): Generator<ConfigFault> {
  yield* findItemNameFaults(servers, "servers");
  for (const [name, server] of isRecord(servers) ? Object.entries(servers) : []) {
    if (!isRecord(server)) continue;
    for (const key of lists) yield* findReferenceFaults(server[key], ["servers", name, key]);
    if (lists.some((key) => server[key] !== undefined)) continue;
    const reason = `\`${formatPath(["servers", name])}\` serves nothing`;
    yield { reason, path: ["servers", name], hint: "Add `tools`, `toolsets`, `prompts` or `resources`." };
  }
}

/** Loads what checks built-ins, which most configs do not have. */
async function findOwnToolFaults(builtIns: unknown, mayBeFunction: boolean): Promise<ConfigFault[]> {
  if (!Array.isArray(builtIns) || builtIns.length === 0) return [];
  const { findBuiltInFaults } = await import("./built-in-faults.ts");
  return [...findBuiltInFaults(builtIns, { mayBeFunction })];
}

/** A config with everything that is wrong with it. */
export interface ConfigCheck extends Pick<ShapeCheck, "cleaned" | "checked"> {
  faults: ConfigFault[];
}

/** Checks the content of a config: its shape, and the rules that a schema cannot express. Pure. */
export async function checkConfig(
  content: unknown,
  { mayBeFunction }: { mayBeFunction: boolean },
): Promise<ConfigCheck> {
  const written = content ?? {};
  if (!isRecord(written)) {
    const fault = { reason: `expected an object, found ${describeType(written)}`, path: [] };
    return { cleaned: {}, checked: undefined, faults: [fault] };
  }
  const { cleaned, checked, faults } = checkShape(written);
  const toolsets = isRecord(cleaned.toolsets) ? Object.entries(cleaned.toolsets) : [];
  const others = [
    ...findMemoryFaults(cleaned.memory),
    ...findPacksFaults(cleaned.packs),
    ...findOptionsFaults(cleaned.options),
    ...findItemNameFaults(cleaned.toolsets, "toolsets"),
    ...toolsets.flatMap(([name, list]) => [...findReferenceFaults(list, ["toolsets", name])]),
    ...findServerFaults(cleaned.servers),
    ...(await findOwnToolFaults(cleaned.builtIns, mayBeFunction)),
    ...findUserServerFaults(cleaned),
  ];
  return { cleaned, checked, faults: [...faults, ...others] };
}

/** The error about `packs` of a config, or about keys that may stand for it, where `readPlainPolicy` refuses the config. */
export async function explainPacks(text: ConfigText): Promise<TrailblazeError> {
  const { faults } = await checkConfig(text.value, { mayBeFunction: false });
  const ours = faults.filter(
    ({ path: [key = "packs"] }) => key === "packs" || isMisspelledPacks(String(key)),
  );
  const [first, ...others] = await describeConfigFaults(ours, text);
  if (first === undefined) throw new Error("The two checks of `packs` disagree.");
  return configFailure([first, ...others]);
}
