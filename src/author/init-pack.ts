import { readdirSync, readFileSync } from "node:fs";
import { basename, join, relative, resolve, sep } from "node:path";
import { applyEdits, describeFolder } from "../files/edit.ts";
import { findOwnPackage } from "../install/own-command.ts";
import { failure, quote } from "../problems/index.ts";
import { hostVersion } from "../version.ts";
import { findNameFault, suggestName, suggestToolPrefix } from "./new-package-name.ts";

/** The templates of `trailblaze init`: folders of `templates`, each a complete pack that is called `my-tools`. */
export const templateNames = ["data", "typescript", "server", "composed", "bundle"] as const;
export type TemplateName = (typeof templateNames)[number];

interface Template {
  /** One line for users who choose a template. */
  summary: string;
  /** The command that builds the pack, if it has to be built. */
  build?: string;
  /** The call that tries the pack, without the prefix of the tool's name. */
  call: string;
}

export const templates: Readonly<Record<TemplateName, Template>> = {
  data: {
    summary: "a tool defined in YAML, with a JavaScript handler",
    call: "greet name=Ada language=fr",
  },
  typescript: {
    summary: "a tool written in TypeScript and built into dist",
    build: "npm run build",
    call: "greet name=Ada language=fr",
  },
  server: {
    summary: "an MCP server that runs in its own process",
    call: 'countWords text="one two three"',
  },
  composed: {
    summary: "tools, a toolset and a prompt, composed into a server",
    call: 'initials name="Ada Lovelace"',
  },
  bundle: {
    summary: "an Mcp.Tools bundle that translates calls and results, and a server for it",
    call: "currentWeather city=Lisbon",
  },
};

export interface InitOptions {
  /** The base of a relative folder. Default: the current folder. */
  cwd?: string;
  /** The npm name. Default: the folder's name. */
  name?: string;
  /** Default: `data`. */
  template?: string;
}

export interface PackPlan {
  /** Absolute. */
  directory: string;
  name: string;
  template: TemplateName;
  /** Paths in the pack's folder, with `/`. */
  files: readonly { path: string; text: string }[];
  /** Commands for the author, in order. */
  nextSteps: readonly string[];
}

/** A new pack. */
export interface InitResult extends Pick<PackPlan, "directory" | "name" | "template"> {
  files: string[];
}

/** The name of a template. Throws `InvalidArguments` for an unknown one. */
export function readTemplateName(name: string): TemplateName {
  const known = templateNames.find((one) => one === name);
  if (known !== undefined) return known;
  const hint = `Use one of ${templateNames.join(", ")}.`;
  throw failure("InvalidArguments", { reason: `Unknown template ${quote(name)}`, hint });
}

/** The name itself. Throws `InvalidArguments` if npm does not accept it. */
export function readNewName(name: string): string {
  const fault = findNameFault(name);
  if (fault === undefined) return name;
  const reason = `${quote(name)} is not a valid name for a new package: it ${fault}`;
  throw failure("InvalidArguments", { reason, hint: "Use a name such as my-tools or @scope/my-tools." });
}

/** The entries of templates in the order in which an author reads them. */
const readingOrder = "package.json tsconfig.json trailblaze lib server src test README.md gitignore".split(
  " ",
);

/** The files of a template for a pack, in reading order. npm publishes no .gitignore, so it has another name in the template. */
export function fillTemplate(template: TemplateName, name: string): PackPlan["files"] {
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

/**
 * The absolute path of the folder for a new pack. Throws `InvalidArguments` if it is not empty or not a folder, and
 * `ProjectNotFound` if `cwd` does not exist.
 */
export function findNewFolder(directory: string, cwd: string = process.cwd()): string {
  const start = resolve(cwd);
  if (!["empty", "filled"].includes(describeFolder(start)))
    throw failure("ProjectNotFound", { directory: start, exists: false });
  const folder = resolve(cwd, directory);
  const state = describeFolder(folder);
  if (state === "absent" || state === "empty") return folder;
  const reason = `${quote(folder, 400)} is ${state === "filled" ? "not empty" : "not a folder"}`;
  throw failure("InvalidArguments", { reason, hint: "Choose a new folder: trailblaze init my-tools" });
}

/** The default name of a pack in a folder; `undefined` if no valid npm name can be derived. */
export const suggestPackName = (folder: string): string | undefined => suggestName(basename(folder));

/** Plans a new pack and writes nothing. Throws `InvalidArguments`. */
export function planNewPack(directory: string, options: InitOptions = {}): PackPlan {
  const folder = findNewFolder(directory, options.cwd);
  const chosen = options.name ?? suggestPackName(folder);
  if (chosen === undefined) {
    const reason = `Cannot derive an npm name from ${quote(basename(folder))}`;
    throw failure("InvalidArguments", { reason, hint: "Choose a name: --name my-tools" });
  }
  const name = readNewName(chosen);
  const template = readTemplateName(options.template ?? "data");
  const { build, call } = templates[template];
  const nextSteps = [
    "npm install",
    ...(build === undefined ? [] : [build]),
    "npm test",
    "npx trailblaze validate --strict",
    `npx trailblaze call ${suggestToolPrefix(name)}_${call}`,
  ];
  return { directory: folder, name, template, files: fillTemplate(template, name), nextSteps };
}

/** Creates a planned pack, completely or not at all. Throws `InvalidArguments` if it cannot be written. */
export function createPlannedPack({ directory, name, template, files }: PackPlan): InitResult {
  const edits = files.map(({ path, text }) => ({
    file: join(directory, path),
    before: undefined,
    after: text,
  }));
  applyEdits(edits, { makesFolders: true });
  return { directory, name, template, files: files.map(({ path }) => path) };
}
