import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { discoverPacks } from "../src/index.ts";
import { TrailblazeError } from "../src/problems/index.ts";
import { packManifest } from "../test/support/packs.ts";
import { writeTree } from "../test/support/tree.ts";
import { checkProblems } from "./support/check-problems.ts";
import { mutateJson } from "./support/mutate.ts";
import { expectThat, type Part } from "./support/part.ts";

const manifestsOfStep = 20;

/** The manifests that are mutated: with everything that discovery reads. */
const originals: readonly Record<string, unknown>[] = [
  packManifest("original", {
    trailblaze: {
      servers: ["main", { name: "second", description: "The second." }],
      tools: ["first", ["second", "The second."], { name: "third", title: "Third" }],
      toolsets: ["set"],
      prompts: ["say"],
      resources: ["page"],
      directory: "trailblaze",
      needs: { env: ["TOKEN"], commands: ["git"] },
    },
    dependencies: { other: "^1.0.0" },
    engines: { node: ">=18" },
    bin: { original: "./main.js" },
  }),
  packManifest("@scope/original", { trailblaze: { tools: ["first"] }, exports: { ".": "./main.js" } }),
  { name: "server", version: "1.0.0", mcpName: "io.github.someone/server", bin: "./main.js" },
  { name: "plain", version: "1.0.0", main: "index.js", workspaces: ["packages/*"] },
];
const project = {
  name: "soaked",
  version: "1.0.0",
  dependencies: { sound: "*", pack0: "*" },
  devDependencies: { pack1: "*" },
  workspaces: ["packages/*"],
  trailblaze: { tools: ["own"] },
};

/** Discovery in a project whose packages, and sometimes itself, have mutated manifests beside one sound pack. */
export const manifests: Part = {
  steps: 100_000 / manifestsOfStep,
  async open({ folder }) {
    const fileOf = (index: number) => join(folder, `node_modules/pack${index}/package.json`);
    const sound = packManifest("sound", { trailblaze: { tools: ["fine"] } });
    writeTree(folder, {
      "packages/member/package.json": { name: "member", version: "1.0.0" },
      "node_modules/sound/package.json": sound,
    });
    for (let index = 0; index < manifestsOfStep - 1; index++)
      writeTree(folder, { [`node_modules/pack${index}/package.json`]: {} });
    return {
      async step(random) {
        const isMutated = random.chance(0.2);
        const own = isMutated ? mutateJson(random, project) : JSON.stringify(project);
        writeFileSync(join(folder, "package.json"), own);
        for (let index = 0; index < manifestsOfStep - 1; index++)
          writeFileSync(fileOf(index), mutateJson(random, random.pick(originals)));
        try {
          const { packs, problems } = await discoverPacks({ cwd: folder });
          checkProblems(problems);
          JSON.stringify(packs);
          const isFound = packs.some(({ name }) => name === "sound");
          expectThat(isFound, () => "broken packs hide a sound one");
          return { manifests: manifestsOfStep, packs: packs.length, problems: problems.length };
        } catch (error) {
          // Only a project that cannot be read leaves no result.
          if (!isMutated || !(error instanceof TrailblazeError)) throw error;
          checkProblems([error.problem]);
          return { manifests: manifestsOfStep, "projects refused": 1 };
        }
      },
      close: async () => {},
    };
  },
};
