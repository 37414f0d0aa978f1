import { readdirSync } from "node:fs";
import { inRepository } from "../support/repository.ts";

const documented = readdirSync(inRepository("docs"), { recursive: true, encoding: "utf8" })
  .map((path) => `docs/${path.replaceAll("\\", "/")}`)
  .filter((path) => path.endsWith(".md"))
  .sort();

/** Every page that people read, relative to the repository. */
export const pages: readonly string[] = [
  "README.md",
  "CONTRIBUTING.md",
  "AGENTS.md",
  "REVIEW.md",
  "SECURITY.md",
  "packages/scripting/README.md",
  "fixtures/sample-plugins/README.md",
  ...documented,
];
