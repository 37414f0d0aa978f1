import { chmodSync, cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { linkPackages } from "../scripting/support/scripting-package.ts";
import { inRepository } from "../support/repository.ts";
import { runProcess } from "../support/run-process.ts";
import { type SamplePack, samplePacks } from "../support/sample-packs.ts";
import { makeTemporaryFolder } from "../support/temporary-folder.ts";
import { writeTree } from "../support/tree.ts";

/** What stands in the docs for the folder that an example runs in. */
const shownDirectory = "/home/you/project";

/** The strictest confinement there is: which one a machine offers is not what examples are about. */
const showConfinement = (text: string) => text.replaceAll(/\(code, [a-z+]+\)/g, "(code, permission+netns)");

/** The folder of a validation as installed, whose name is random. */
const showTemporary = (text: string) =>
  text.replaceAll(/[^\s"']*\/trailblaze-installed-\w+/g, "/tmp/trailblaze-installed");

/** The SDKs of models that examples use. */
const modelPackages = ["ai", "@ai-sdk/openai-compatible", "openai", "@anthropic-ai/sdk", "@langchain/core"];

/** The sample packs that a text mentions: names like `hello-tools`, `hello_greet` and `handbook://welcome`; all if there is none. */
export function findMentioned(text: string): readonly SamplePack[] {
  const mentioned = samplePacks.filter(({ name }) => {
    const word = name.split("/").at(-1)?.split("-")[0];
    return new RegExp(`\\b(?:${name.replace("@", "")}\\b|${word}_|${word}://)`).test(text);
  });
  return mentioned.length === 0 ? samplePacks : mentioned;
}

/** A project with the built packages of this repository installed, in which the examples of one page run. */
export class ExampleProject {
  readonly #folder = makeTemporaryFolder();
  readonly #directory = join(this.#folder.path, "project");

  /** `packs` are its dependencies; without them it has no package.json. */
  constructor(packs?: readonly SamplePack[]) {
    this.#install(inRepository("."));
    this.#install(inRepository("packages/scripting"));
    this.#linkCommand();
    linkPackages(this.#directory, ["@modelcontextprotocol/server-memory"]);
    if (packs === undefined) return;
    for (const { folder } of packs) this.#install(folder);
    linkPackages(this.#directory, ["@modelcontextprotocol/sdk", ...modelPackages]);
    const dependencies = Object.fromEntries(packs.map(({ name, version }) => [name, `^${version}`]));
    this.write(
      "package.json",
      JSON.stringify({ name: "project", type: "module", private: true, dependencies }),
    );
  }

  /**
   * Copies what npm would publish of a package, near enough: package.json and what `files` lists. Declarations are links, so that
   * for a compiler they are the same in all projects.
   */
  #install(folder: string): void {
    const filter = (from: string, to: string) => {
      if (!/\.d\.[cm]?ts$/.test(from)) return true;
      symlinkSync(from, to);
      return false;
    };
    const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
      name: string;
      files: string[];
    };
    for (const entry of ["package.json", ...manifest.files].filter((one) => !one.startsWith("!"))) {
      const target = join(this.#directory, "node_modules", manifest.name, entry);
      cpSync(join(folder, entry), target, { recursive: true, filter });
    }
  }

  #linkCommand(): void {
    const bin = join(this.#directory, "node_modules/.bin");
    mkdirSync(bin, { recursive: true });
    const script = join(this.#directory, "node_modules/trailblaze/dist/cli/cli.cjs");
    writeFileSync(join(bin, "trailblaze"), `#!/bin/sh\nexec "${process.execPath}" "${script}" "$@"\n`);
    chmodSync(join(bin, "trailblaze"), 0o755);
  }

  /** Writes a file, given by its path in the project. Returns its absolute path. */
  write(path: string, text: string): string {
    writeTree(this.#directory, { [path]: `${text}\n` });
    return join(this.#directory, path);
  }

  /** Runs a command line in a shell. Returns all it printed, without places on this machine. */
  async runCommand(command: string): Promise<string> {
    return await this.#run("sh", ["-c", `{ ${command}; } 2>&1`]);
  }

  /** Runs a TypeScript module, which must succeed. Returns what it printed. */
  async runModule(name: string, source: string, variables: NodeJS.ProcessEnv = {}): Promise<string> {
    const compilerOptions = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ES2022 };
    const { outputText } = ts.transpileModule(source, { compilerOptions });
    const file = this.write(`${name}.mjs`, outputText);
    return await this.#run(process.execPath, [file], { mustSucceed: true, variables });
  }

  async #run(
    command: string,
    args: string[],
    { mustSucceed = false, variables = {} as NodeJS.ProcessEnv } = {},
  ): Promise<string> {
    const bin = join(this.#directory, "node_modules/.bin");
    const env = {
      ...process.env,
      PATH: `${bin}:${process.env.PATH}`,
      NO_COLOR: "1",
      // npm warns about settings of this machine.
      npm_config_loglevel: "error",
      ...variables,
    };
    const cwd = this.#directory;
    const { stdout, stderr, exitCode } = await runProcess(command, args, { cwd, env, timeoutMs: 90_000 });
    if (mustSucceed && exitCode !== 0) throw new Error(stderr);
    return showTemporary(showConfinement(stdout.replaceAll(this.#directory, shownDirectory))).trimEnd();
  }

  remove(): void {
    this.#folder.remove();
  }
}
