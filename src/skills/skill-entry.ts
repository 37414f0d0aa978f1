// What MCP's extension for skills says of a skill.
import { isRecord } from "../data/parse-json.ts";
import { attempt } from "../files/file-errors.ts";
import { instructionsFile } from "./skill-folders.ts";

export const skillsExtension = "io.modelcontextprotocol/skills";

/** An entry of `skills/list`. Strings are hostile. */
export interface SkillEntry {
  /** Of its `SKILL.md`. */
  uri: string;
  frontmatter: { name: string; description: string } & Record<string, unknown>;
  /** `digest` is `sha256:` and hexadecimal. `dynamic`: the server does not say which files it has. */
  resources: { uri: string; digest: string; size: number }[] | "dynamic";
}

export interface SkillFile {
  /** Relative to the skill's folder, with `/`. */
  path: string;
  size: number;
  /** `sha256-` and the base64 of the hash of its bytes. */
  digest: string;
}

/** What a client must take; files of nested skills count. */
export const skillLimits = { files: 512, bytes: 16 << 20 } as const;

/** The URI that the files of a skill begin with. */
export const rootOf = ({ uri }: Pick<SkillEntry, "uri">): string => uri.slice(0, -instructionsFile.length);

export const pathOf = (skill: Pick<SkillEntry, "uri">, file: string): string =>
  decodeURIComponent(file.slice(rootOf(skill).length));

export function filesOf(entry: Pick<SkillEntry, "uri" | "resources">): SkillFile[] {
  const listed = entry.resources === "dynamic" ? [] : entry.resources;
  return listed.map(({ uri, digest, size }) => {
    const hash = Buffer.from(digest.slice("sha256:".length), "hex").toString("base64");
    return { path: pathOf(entry, uri), size, digest: `sha256-${hash}` };
  });
}

/** What the lock has of files. */
export const digestsOf = (files: readonly SkillFile[]): Record<string, string> =>
  Object.fromEntries(files.map(({ path, digest }) => [path, digest]));

/** Whether a URI is that of a file below a folder, in its normal form. */
function isFileIn(root: string, uri: string): boolean {
  const isNormal = URL.canParse(uri) && new URL(uri).href === uri && !/[?#]/.test(uri);
  if (!isNormal || !uri.startsWith(root)) return false;
  const segments = attempt(() => uri.slice(root.length).split("/").map(decodeURIComponent));
  return segments?.every((segment) => !/^$|^\.\.?$|[/\\\0]/.test(segment)) === true;
}

export const hasFile = (skill: SkillEntry, uri: string): boolean =>
  skill.resources === "dynamic"
    ? isFileIn(rootOf(skill), uri)
    : skill.resources.some((file) => file.uri === uri);

const isText = (value: unknown, most: number) =>
  typeof value === "string" && value !== "" && [...value].length <= most;

/**
 * Why clients refuse an entry, which continues "it"; `undefined` for a valid one. One that they refuse may cost them the whole
 * list. Its shape has been checked.
 */
export function findSkillFault({ uri, frontmatter, resources }: SkillEntry): string | undefined {
  const { name, description, compatibility = "-", metadata = {} } = frontmatter;
  const root = rootOf({ uri });
  // The host becomes a folder, which must not be `..`.
  const passedOn = uri.replace(/^[a-z][\w+.-]*:\/\//i, "skill://server/");
  const isNormal = isFileIn(root, uri) && isFileIn("skill://", passedOn);
  if (!isNormal || !uri.endsWith(`/${name}/${instructionsFile}`))
    return "has a URI that does not end with its name and /SKILL.md";
  if (!/^(?=.{1,64}$)[a-z0-9]+(-[a-z0-9]+)*$/.test(name)) return "has an invalid name";
  if (!isText(description, 1024)) return "has no description of 1 to 1024 characters";
  if (!isText(compatibility, 500)) return "has an invalid `compatibility`";
  if (!isRecord(metadata) || Object.values(metadata).some((one) => typeof one !== "string"))
    return "has an invalid `metadata`";
  if (Object.hasOwn(frontmatter, "__proto__")) return "has a key that clients refuse";
  if (resources === "dynamic") return undefined;
  const isInside = resources.every((file) => isFileIn(root, file.uri));
  const paths = new Set(isInside ? resources.map((file) => pathOf({ uri }, file.uri)) : []);
  if (!paths.has(instructionsFile) || paths.size < resources.length)
    return "lists files twice, outside its folder, or without its SKILL.md";
  const bytes = resources.reduce((sum, { size }) => sum + size, 0);
  return resources.length > skillLimits.files || bytes > skillLimits.bytes
    ? "has more files than a skill may have"
    : undefined;
}
