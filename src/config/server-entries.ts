import { isRecord } from "../data/parse-json.ts";
import type { Path } from "../problems/index.ts";

/** A user's server as written in the config, not yet checked. */
export interface ServerEntry {
  /** Its name in messages, logs and `LABEL/TOOL`; not a string if the entry is invalid. */
  label: unknown;
  /** Its path in the config. */
  path: Path;
  /** The path of its label. */
  labelPath: Path;
  values: Readonly<Record<string, unknown>>;
  /** The entry has the form of clients' configs, and its other keys are ignored. */
  isPasted: boolean;
}

/** The servers of a config: `trailblazeSubprocessToolsets` first, then `mcpServers`, each in file order. Pure. */
export function listServerEntries(config: unknown): ServerEntry[] {
  if (!isRecord(config)) return [];
  const { trailblazeSubprocessToolsets: list, mcpServers } = config;
  const listed = (Array.isArray(list) ? list : []).flatMap((values, index): ServerEntry[] => {
    const path = ["trailblazeSubprocessToolsets", index];
    return isRecord(values)
      ? [{ label: values.name, path, labelPath: [...path, "name"], values, isPasted: false }]
      : [];
  });
  const pasted = Object.entries(isRecord(mcpServers) ? mcpServers : {}).flatMap(
    ([label, values]): ServerEntry[] => {
      const path = ["mcpServers", label];
      return isRecord(values) ? [{ label, path, labelPath: path, values, isPasted: true }] : [];
    },
  );
  return [...listed, ...pasted];
}

/** Whether an entry's server is not used: `enabled: false`, or `disabled: true` in clients' configs. */
export const isDisabled = ({ values, isPasted }: ServerEntry): boolean =>
  values.enabled === false || (isPasted && values.disabled === true);
