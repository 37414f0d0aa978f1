import { createHash } from "node:crypto";
import { posix } from "node:path";

const shortHash = (text: string, length = 8) =>
  createHash("sha256").update(text).digest("hex").slice(0, length);

const isDevice = (segment: string) => /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/.test(segment);

/** Whether every file system takes a segment of a path as it is. */
const isPlain = (segment: string) =>
  /^[a-z0-9][a-z0-9._-]{0,99}$/.test(segment) && !/\.(?:html)?$/.test(segment) && !isDevice(segment);

/** The longest beginning of a text that is a plain segment, for people. */
const plainPart = (text: string) =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, "-")
    .slice(0, 40);

/** A pack in the order of the catalog. */
interface NamedPack {
  /** npm name; not trusted. */
  name: string;
  version: string | null;
  /** Relative to the project. */
  location: string;
  shadowed: boolean;
}

/**
 * The files of packs, relative to the catalog: `packs/acme/jira.html`, `packs/hello-tools.html`. A name that a file system
 * may not take as it is, and copies that would be one file, have a hash that depends only on the pack.
 */
export function assignPages(packs: readonly NamedPack[]): string[] {
  const paths = packs.map(({ name }) => {
    const segments = name.replace(/^@/, "").split("/");
    return segments.length <= 2 && segments.every(isPlain)
      ? `packs/${segments.join("/")}.html`
      : `packs/${segments.map(plainPart).filter(Boolean).slice(0, 2).join("-") || "pack"}-${shortHash(name)}.html`;
  });
  const owners = new Map<string, number[]>();
  for (const [index, path] of paths.entries()) owners.set(path, [...(owners.get(path) ?? []), index]);
  const taken = new Set<string>();
  const isMain = (index: number, path: string) => {
    const used = (owners.get(path) ?? []).filter((one) => packs[one]?.shadowed === false);
    return used.length === 1 ? used[0] === index : owners.get(path)?.[0] === index;
  };
  const pages = paths.map((path, index) => {
    if (!isMain(index, path)) return undefined;
    taken.add(path);
    return path;
  });
  return paths.map((path, index) => {
    const page = pages[index];
    if (page !== undefined) return page;
    const { name = "", version = null, location = "" } = packs[index] ?? {};
    const id = JSON.stringify([name, version, location]);
    for (let length = 8; ; length += 4) {
      const hashed = path.replace(/\.html$/, `-${shortHash(id, length)}.html`);
      if (length < 64 && taken.has(hashed)) continue;
      taken.add(hashed);
      return hashed;
    }
  });
}

/** The relative address that leads from one file of the catalog to another, perhaps to an element in it. */
export function addressFrom(from: string, to: string, id?: string): string {
  const path = from === to ? "" : posix.relative(posix.dirname(from), to);
  return `${path}${id === undefined ? "" : `#${id}`}`;
}

/** The ID of an item's element, safe in an address and in markup. */
export const itemId = (kind: string, name: string): string =>
  `${kind}-${/^[\w.-]{1,80}$/.test(name) ? name : shortHash(name)}`;
