// What MCP's extension for skills says of a skill.
import { createHash } from "node:crypto";
import { isRecord } from "../data/parse-json.ts";

/** The extension's name in capabilities. */
export const skillsExtension = "io.modelcontextprotocol/skills";

/** A file of a skill: `digest` is `sha256:` and hexadecimal. */
export interface SkillFileEntry {
  uri: string;
  digest: string;
  size: number;
}

/** An entry of `skills/list`. Strings are hostile. */
export interface SkillEntry {
  /** Of its `SKILL.md`. */
  uri: string;
  frontmatter: { name: string; description: string } & Record<string, unknown>;
  /** `dynamic`: the server does not say which files it has. */
  resources: SkillFileEntry[] | "dynamic";
}

const manifest = "SKILL.md";
/** What a client must take. */
const mostFiles = 512;
const mostBytes = 16 * 2 ** 20;

/** The URI that the files of a skill begin with. */
export const rootOf = ({ uri }: Pick<SkillEntry, "uri">): string => uri.slice(0, -manifest.length);

/** The path of a file in its skill. */
export const pathOf = (skill: Pick<SkillEntry, "uri">, file: string): string =>
  decodeURIComponent(file.slice(rootOf(skill).length));

export const digestOf = (bytes: Uint8Array): string =>
  `sha256:${createHash("sha256").update(bytes).digest("hex")}`;

/** A digest as the lock has it: in base64, as `integrity` has it. */
export const toIntegrity = (digest: string): string =>
  `sha256-${Buffer.from(digest.slice("sha256:".length), "hex").toString("base64")}`;

/** The reverse. */
export const toDigest = (integrity: string): string =>
  `sha256:${Buffer.from(integrity.slice("sha256-".length), "base64").toString("hex")}`;

const normalUri = (uri: string) => (URL.canParse(uri) ? new URL(uri).href : undefined);

/** Whether a URI is that of a file below a folder, in its normal form. */
function isFileIn(root: string, uri: string): boolean {
  if (normalUri(uri) !== uri || !uri.startsWith(root) || /[?#]/.test(uri)) return false;
  try {
    return uri
      .slice(root.length)
      .split("/")
      .every((segment) => !/^$|^\.\.?$|[/\\\0]/.test(decodeURIComponent(segment)));
  } catch {
    return false;
  }
}

/** Whether a skill has a file of this URI. */
export const hasFile = (skill: SkillEntry, uri: string): boolean =>
  skill.resources === "dynamic"
    ? isFileIn(rootOf(skill), uri)
    : skill.resources.some((file) => file.uri === uri);

const characters = (value: unknown, most: number) =>
  typeof value === "string" && value !== "" && [...value].length <= most;

/**
 * Why clients refuse an entry, which continues "it"; `undefined` for a valid one. One that they refuse may cost them the whole
 * list. Its shape has been checked.
 */
export function findSkillFault({ uri, frontmatter, resources }: SkillEntry): string | undefined {
  const { name, description, compatibility, metadata } = frontmatter;
  const isNamed = uri.endsWith(`/${name}/${manifest}`) || uri.endsWith(`://${name}/${manifest}`);
  if (!/^[a-z][\w+.-]*:\/\//i.test(uri) || normalUri(uri) !== uri || /[?#]/.test(uri) || !isNamed)
    return "has a URI that does not end with its name and /SKILL.md";
  if (!/^(?=.{1,64}$)[a-z0-9]+(-[a-z0-9]+)*$/.test(name)) return "has an invalid name";
  if (!characters(description, 1024)) return "has no description of 1 to 1024 characters";
  if (compatibility !== undefined && !characters(compatibility, 500)) return "has an invalid `compatibility`";
  const isTexts = isRecord(metadata) && Object.values(metadata).every((one) => typeof one === "string");
  if (metadata !== undefined && !isTexts) return "has an invalid `metadata`";
  if (Object.hasOwn(frontmatter, "__proto__")) return "has a key that clients refuse";
  if (resources === "dynamic") return undefined;
  const root = rootOf({ uri });
  const areInside = resources.every((file) => isFileIn(root, file.uri));
  const paths = new Set(areInside ? resources.map((file) => pathOf({ uri }, file.uri)) : []);
  if (!paths.has(manifest) || paths.size < resources.length)
    return "lists files twice, outside its folder, or without its SKILL.md";
  const bytes = resources.reduce((sum, { size }) => sum + size, 0);
  if (resources.length > mostFiles || bytes > mostBytes) return "has more files than a skill may have";
  return undefined;
}
