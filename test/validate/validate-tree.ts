import type { Problem } from "../../src/problems/index.ts";
import { validateExtension } from "../../src/validate/validate-extension.ts";
import type { ValidationOptions } from "../../src/validate/validate-target.ts";
import { makeTree, packManifest } from "../support/packs.ts";
import type { Tree } from "../support/tree.ts";

export interface PackTree {
  /** The `trailblaze` field. */
  extension: Record<string, unknown>;
  /** Files of the pack, and beside it of packages in its node_modules. */
  files: Tree;
  /** Further fields of its package.json. */
  fields?: Record<string, unknown>;
}

const writePack = ({ extension, files, fields = {} }: PackTree): Tree => ({
  ...files,
  "package.json": packManifest("@acme/sample", { trailblaze: extension, ...fields }),
});

/** Writes a pack and returns its folder. */
export const makePack = (tree: PackTree): string => makeTree(writePack(tree));

/** Writes a project with an installed pack, and returns the project's folder. */
export function makeInstalled(tree: PackTree): string {
  const pack = Object.entries(writePack(tree));
  return makeTree({
    "package.json": { name: "app", dependencies: { "@acme/sample": "^1.0.0" } },
    ...Object.fromEntries(pack.map(([file, text]) => [`node_modules/@acme/sample/${file}`, text])),
  });
}

/** Validates a pack under development; the problems are those of the codes asked for, or all. */
export const validateTree = (tree: PackTree, codes?: readonly string[], options?: ValidationOptions) =>
  validateFolder(makePack(tree), codes, options);

/** The same for a pack that is written already. */
export async function validateFolder(
  folder: string,
  codes?: readonly string[],
  options: ValidationOptions = {},
): Promise<Problem[]> {
  const { problems } = await validateExtension(folder, options);
  return problems.filter(({ code }) => codes?.includes(code) ?? true);
}

/** `Code file path`, for comparing many problems at once. */
export function summarize({ code, file = "", path = [] }: Problem): string {
  return [code, file, path.join(".")].filter((part) => part !== "").join(" ");
}

export const greetTool = (handler: unknown, fields: Record<string, unknown> = {}) => ({
  name: "hello_greet",
  description: "Greet somebody.",
  parameters: { person: { type: "string", description: "Who is greeted." } },
  handler,
  ...fields,
});

export const toolset = (name: string, fields: Record<string, unknown>) => ({
  name,
  description: `The toolset ${name}.`,
  ...fields,
});

export const prompt = (name: string, fields: Record<string, unknown> = { content: "Say hello." }) => ({
  name,
  description: `The prompt ${name}.`,
  ...fields,
});
