import { readdirSync, readFileSync } from "node:fs";
import { basename, join, relative, sep } from "node:path";
import { applyEdits, isTaken } from "../files/edit.ts";
import { findOwnPackage } from "../install/entry.ts";
import { failure, quote } from "../problems/index.ts";
import { explainInvalidName } from "../validate/checks/package.ts";
import { hostVersion } from "../version.ts";

/** By the folders of `templates`, each a pack that is called `my-tools`: the call that tries it, without the tool's prefix. */
const calls = {
  data: "greet name=Ada language=fr",
  typescript: "greet name=Ada language=fr",
  server: 'countWords text="one two three"',
  composed: 'initials name="Ada Lovelace"',
  bundle: "currentWeather city=Lisbon",
} as const;
export type TemplateName = keyof typeof calls;
export const templateNames = Object.keys(calls) as TemplateName[];

const suggestName = (folderName: string): string =>
  folderName
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, "-")
    .replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, "");

/** One to three words, the first of which is not reserved for hosts. */
const usualPrefix = /^(?!(?:org|ios|android|mobile|web)(?:_|$))[a-z][a-z0-9]*(?:_[a-z][a-z0-9]*){0,2}$/;
/** Leaves room for the rest of an advertised name, which has at most 64 characters. */
const longestPrefix = 40;

/** The prefix of the advertised names of a package's tools: `weather_desk` for `@acme/weather-desk`, else the template's. */
function suggestToolPrefix(packageName: string): string {
  const words = packageName.slice(packageName.indexOf("/") + 1).match(/[a-z0-9]+/g) ?? [];
  const prefix = words.join("_");
  return usualPrefix.test(prefix) && prefix.length <= longestPrefix ? prefix : "my_tools";
}

const readingOrder =
  "package.json tsconfig.json trailblaze skills lib server src test README.md gitignore".split(" ");

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

/**
 * Creates a pack in an absolute folder that is empty or absent, completely or not at all. By default, it is called like the
 * folder. `files` have `/`; `nextSteps` are commands for the author, in order. Throws `InvalidArguments`.
 */
export function createPack(directory: string, options: { name?: string; template?: TemplateName } = {}) {
  const { name: chosen, template = "data" } = options;
  const invalid = (reason: string, hint: string) => failure("InvalidArguments", { reason, hint });
  if (isTaken(directory)) {
    const reason = `${quote(directory, 400)} is not an empty folder`;
    throw invalid(reason, "Choose a new folder: trailblaze init my-tools");
  }
  const name = chosen ?? suggestName(basename(directory));
  const fault = explainInvalidName(name);
  if (fault !== undefined) {
    const reason = `${quote(chosen ?? basename(directory))} is not a valid name for a new package on npm: ${fault}`;
    throw invalid(reason, "Choose a name such as my-tools or @scope/my-tools: --name my-tools");
  }
  const files = fillTemplate(template, name);
  applyEdits(
    files.map(({ path, text: after }) => ({ file: join(directory, path), before: undefined, after })),
  );
  const nextSteps = [
    "npm install",
    ...(template === "typescript" ? ["npm run build"] : []),
    "npm test",
    "npx trailblaze validate --strict",
    `npx trailblaze call ${suggestToolPrefix(name)}_${calls[template]}`,
  ];
  return { directory, name, template, files: files.map(({ path }) => path), nextSteps };
}
