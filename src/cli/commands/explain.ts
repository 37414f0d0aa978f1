import { readFileSync } from "node:fs";
import { join } from "node:path";
import { findOwnPackage } from "../../install/entry.ts";
import { catalog, failure } from "../../problems/index.ts";
import { findNearestNames } from "../../qualified-names/nearest-names.ts";
import { defineCommand } from "../command.ts";

export const command = defineCommand({
  summary: "Explain a problem code and how to fix the problem",
  usage: "<code>",
  options: {},
  async run({ positionals: [code = ""] }) {
    if (!Object.hasOwn(catalog, code))
      throw failure("UnknownCode", { code, nearest: findNearestNames(code, Object.keys(catalog)) });
    const entries = readFileSync(join(findOwnPackage(), "docs/problems.md"), "utf8").split(/^#(?=# )/m);
    const page = `${entries.find((entry) => entry.startsWith(`# ${code}\n`))?.trimEnd()}\n`;
    const [, severity, title] = /^\*\*(.+)\*\* · (.+)$/m.exec(page) ?? [];
    return { json: { code, severity, title, page }, formatText: () => page };
  },
});
