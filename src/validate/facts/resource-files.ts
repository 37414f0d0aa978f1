import { posix } from "node:path";
import { type InspectionPort, maximumResourceBytes } from "../../files/inspection-port.ts";
import type { InspectedItem } from "../../inspection/types.ts";
import { formatCount } from "../../problems/text.ts";
import type { NeededFile } from "./needed-files.ts";

/** A file with the contents of a resource. */
export interface ResourceFile {
  item: InspectedItem;
  /** Relative to the package, normalized. It may still lead outside. */
  file: string;
  state: "outside" | "absent" | "read" | { unusable: string };
}

/** The files that resources name. They are not modules, whatever their names are. */
export function findResourceFiles(items: readonly InspectedItem[]): NeededFile[] {
  return items.flatMap((item) => {
    const file = item.shape === "resource" ? item.definition?.file : undefined;
    return typeof file === "string" ? { file: posix.normalize(file), item, path: ["file"] } : [];
  });
}

/** Reads the files of resources, without keeping what is in them. */
export function collectResourceFiles(
  port: InspectionPort,
  root: string,
  files: readonly NeededFile[],
): ResourceFile[] {
  const states = new Map<string, ResourceFile["state"]>();
  const look = (file: string): ResourceFile["state"] => {
    const read = port.readFile(root, file, maximumResourceBytes);
    if (read.state === "unusable") return { unusable: read.reason };
    if (read.state !== "tooLarge") return read.state;
    return { unusable: `it has ${formatCount(read.bytes)} bytes, and the limit is 10 MiB` };
  };
  return files.map(({ item, file }) => {
    const state = states.get(file) ?? look(file);
    states.set(file, state);
    return { item, file, state };
  });
}
