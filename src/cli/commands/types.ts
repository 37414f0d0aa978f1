import { resolve } from "node:path";
import { declareTools } from "../../author/generate-types.ts";
import { planEdit } from "../../files/edit.ts";
import { defineCommand } from "../command.ts";
import { flag, text } from "../options.ts";
import { sessionOptions, withSession } from "../session/session-command.ts";
import { writeFiles } from "../written-file.ts";

export const command = defineCommand({
  summary: "Generate TypeScript declarations for a session's tools",
  usage: "",
  options: {
    out: text("FILE", "Write to this file instead of stdout"),
    check: { ...flag("Fail if the file given with --out is out of date; write nothing"), needs: ["out"] },
    ...sessionOptions,
  },
  async run(input) {
    const { options, cwd } = input;
    const { out, check } = options;
    return withSession(input, async (session) => {
      const { declarations, tools } = declareTools(session, cwd);
      const { problems } = session;
      if (out === undefined)
        return {
          json: { declarations, tools, problems },
          formatText: () => declarations.trimEnd(),
          problems,
        };
      const written = writeFiles([{ shown: out, edit: planEdit(resolve(cwd, out), declarations) }], {
        check,
      });
      return { ...written, json: { files: written.files, tools, problems }, problems };
    });
  },
});
