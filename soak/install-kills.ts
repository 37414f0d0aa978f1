import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { command } from "../test/support/run-cli.ts";
import { runProcess } from "../test/support/run-process.ts";
import { writeTree } from "../test/support/tree.ts";
import { runAndKill } from "./support/kill.ts";
import { expectThat, type Part } from "./support/part.ts";

const originals = [
  "{}\n",
  '{\n  // servers\n  "mcpServers": {\n    "theirs": { "command": "x" }, // theirs\n  },\n}\n',
  '{"theme": "dark",\r\n "mcpServers": {}}',
];

/** `install`, killed at any point: the client's config is as before or as after, and the next runs do and undo it. */
export const installKills: Part = {
  steps: 500,
  limitMs: 20_000,
  async open({ folder }) {
    const [cwd, home] = [join(folder, "project"), join(folder, "home")];
    writeTree(folder, {
      "project/package.json": { name: "soaked", private: true },
      "project/trailblaze.config.yaml": "servers:\n  mine: { tools: [] }\n",
      "home/.cursor/mcp.json": originals[0],
    });
    const file = join(home, ".cursor/mcp.json");
    const { PATH, SystemRoot } = process.env;
    const env = {
      ...(PATH === undefined ? {} : { PATH }),
      ...(SystemRoot === undefined ? {} : { SystemRoot }),
      HOME: home,
      USERPROFILE: home,
      XDG_STATE_HOME: join(folder, "state"),
    };
    const read = () => readFileSync(file, "utf8");
    const install = ["install", "cursor", "mine"];
    async function run(args: readonly string[]): Promise<void> {
      const options = { cwd, env, timeoutMs: 60_000 };
      const { exitCode, stderr } = await runProcess(process.execPath, [command, ...args], options);
      expectThat(exitCode === 0, () => `${args.join(" ")} exits with ${exitCode}: ${stderr}`);
    }
    /** How long it takes undisturbed. */
    let wholeMs = 0;
    return {
      async step(random) {
        const before = random.pick(originals);
        writeFileSync(file, before);
        const begun = performance.now();
        await run(install);
        wholeMs = performance.now() - begun;
        const after = read();
        await run(["uninstall", "cursor", "mine"]);
        expectThat(read() === before, () => `install and uninstall make ${before} ${read()}`);
        const isKilled = await runAndKill(install, { cwd, env }, random.next() * wholeMs);
        const left = read();
        expectThat(
          left === before || left === after,
          () => `a killed install leaves ${JSON.stringify(left)}`,
        );
        await run(install);
        expectThat(read() === after, () => `an install after a killed one leaves ${JSON.stringify(read())}`);
        await run(["uninstall", "cursor", "mine"]);
        expectThat(read() === before, () => `an uninstall then leaves ${JSON.stringify(read())}`);
        // Between making a lock and noting whose it is, a killed process leaves one that may be anybody's: it goes with age.
        const isLocked = existsSync(`${file}.lock`);
        if (isLocked) {
          utimesSync(`${file}.lock`, 0, 0);
          await run(install);
          await run(["uninstall", "cursor", "mine"]);
        }
        const beside = readdirSync(dirname(file));
        expectThat(beside.length === 1, () => `beside the config lie ${beside.join(", ")}`);
        const counts = { kills: Number(isKilled), "changed before the kill": Number(left === after) };
        return { ...counts, "locks without an owner": Number(isLocked) };
      },
      close: async () => {},
    };
  },
};
