import { readdirSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { basename, join, relative, sep } from "node:path";
import { applyEdits, describeFolder } from "../files/edit.ts";
import { findOwnPackage } from "../install/own-command.ts";
import { failure, quote } from "../problems/index.ts";
import { isPackageName } from "../qualified-names/item-name.ts";
import { hostVersion } from "../version.ts";

/** The templates of `trailblaze init`: folders of `templates`, each a complete pack that is called `my-tools`. */
export const templateNames = ["data", "typescript", "server", "composed", "bundle"] as const;
export type TemplateName = (typeof templateNames)[number];

interface Template {
  /** The command that builds the pack, if it has to be built. */
  build?: string;
  /** The call that tries the pack, without the prefix of the tool's name. */
  call: string;
}

const templates: Readonly<Record<TemplateName, Template>> = {
  data: {
    call: "greet name=Ada language=fr",
  },
  typescript: {
    build: "npm run build",
    call: "greet name=Ada language=fr",
  },
  server: {
    call: 'countWords text="one two three"',
  },
  composed: {
    call: 'initials name="Ada Lovelace"',
  },
  bundle: {
    call: "currentWeather city=Lisbon",
  },
};

/** Names that npm reserves. */
const reservedNames: ReadonlySet<string> = new Set(["node_modules", "favicon.ico", ...builtinModules]);

/** Why npm does not accept this name for a new package, continuing "it"; `undefined` if it does. */
function findNameFault(name: string): string | undefined {
  if (name === "") return "is empty";
  if (name.length > 214) return "is longer than 214 characters";
  if (/[A-Z]/.test(name)) return "has capital letters, which npm allows only in old packages";
  if (!isPackageName(name) || name.includes("~"))
    return "may only have a-z, 0-9, -, . and _, optionally after an @scope/";
  if (reservedNames.has(name)) return "is the name of a module of Node or is reserved by npm";
  return undefined;
}

/** A package name derived from a folder's name. */
const suggestName = (folderName: string): string =>
  folderName
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, "-")
    .replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, "");

/** First words of advertised names that are reserved for hosts. */
const reservedWords: ReadonlySet<string> = new Set(["org", "ios", "android", "mobile", "web"]);
/** Leaves room for the rest of an advertised name, which has at most 64 characters. */
const longestPrefix = 40;

/** The prefix of the advertised names of a package's tools: `weather_desk` for `@acme/weather-desk`. */
export function suggestToolPrefix(packageName: string): string {
  const own = packageName.slice(packageName.indexOf("/") + 1);
  const words = own.split(/[^a-z0-9]+/).filter((word) => word !== "");
  const [first = "pack"] = words;
  const isUsual =
    words.length <= 3 && words.every((word) => /^[a-z]/.test(word)) && !reservedWords.has(first);
  if (isUsual && words.length > 0 && words.join("_").length <= longestPrefix) return words.join("_");
  const joined = words.join("").slice(0, longestPrefix);
  if (!/^[a-z]/.test(joined)) return `pack${joined}`;
  return reservedWords.has(joined) ? `${joined}tools` : joined;
}

/** The entries of templates in the order in which an author reads them. */
const readingOrder = "package.json tsconfig.json trailblaze lib server src test README.md gitignore".split(
  " ",
);

/** The files of a template for a pack, in reading order. npm publishes no .gitignore, so it has another name in the template. */
export function fillTemplate(template: TemplateName, name: string): { path: string; text: string }[] {
  const folder = join(findOwnPackage(), "templates", template);
  const top = (path: string) => readingOrder.indexOf(path.split("/")[0] ?? "");
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join("/"))
    .sort((a, b) => top(a) - top(b) || (a < b ? -1 : 1))
    .map((path) => ({
      path: path.replace(/^gitignore$/, ".gitignore"),
      text: readFileSync(join(folder, path), "utf8")
        .replaceAll("my-tools/", `${name.replace(/^@/, "")}/`)
        .replaceAll("my-tools", name)
        .replaceAll("my_tools", suggestToolPrefix(name))
        .replaceAll("^0.0.0", `^${hostVersion}`),
    }));
}

/** A new pack. */
export interface CreatedPack {
  /** Absolute. */
  directory: string;
  name: string;
  template: TemplateName;
  /** Paths in the pack's folder, with `/`. */
  files: string[];
}

/**
 * Creates a pack in an absolute folder that is empty or absent, completely or not at all. By default, it is called like the
 * folder. Also returns commands for the author, in order. Throws `InvalidArguments`.
 */
export function createPack(
  directory: string,
  { name: chosen, template: word = "data" }: { name?: string; template?: string } = {},
): CreatedPack & { nextSteps: string[] } {
  const invalid = (reason: string, hint: string) => failure("InvalidArguments", { reason, hint });
  const state = describeFolder(directory);
  if (state === "filled" || state === "noFolder") {
    const reason = `${quote(directory, 400)} is ${state === "filled" ? "not empty" : "not a folder"}`;
    throw invalid(reason, "Choose a new folder: trailblaze init my-tools");
  }
  const template = templateNames.find((one) => one === word);
  if (template === undefined)
    throw invalid(`Unknown template ${quote(word)}`, `Use one of ${templateNames.join(", ")}.`);
  const name = chosen ?? suggestName(basename(directory));
  const fault = findNameFault(name);
  if (fault !== undefined && chosen === undefined)
    throw invalid(
      `Cannot derive an npm name from ${quote(basename(directory))}`,
      "Choose a name: --name my-tools",
    );
  if (fault !== undefined) {
    const reason = `${quote(name)} is not a valid name for a new package: it ${fault}`;
    throw invalid(reason, "Use a name such as my-tools or @scope/my-tools.");
  }
  const files = fillTemplate(template, name);
  const edits = files.map(({ path, text }) => ({
    file: join(directory, path),
    before: undefined,
    after: text,
  }));
  applyEdits(edits, { makesFolders: true });
  const { build, call } = templates[template];
  const nextSteps = [
    "npm install",
    ...(build === undefined ? [] : [build]),
    "npm test",
    "npx trailblaze validate --strict",
    `npx trailblaze call ${suggestToolPrefix(name)}_${call}`,
  ];
  return { directory, name, template, files: files.map(({ path }) => path), nextSteps };
}
