import { commonFiles, formatManifest } from "./common-files.ts";
import { formatGreetingDefinition, formatGreetingTest, greetingCode } from "./greeting.ts";
import type { Template } from "./template.ts";

const about = {
  summary: "a tool defined in YAML, with a JavaScript handler",
  preparation: [],
  trial: ({ prefix }) => `npx trailblaze call ${prefix}_greet name=Ada language=fr`,
} satisfies Omit<Template, "files">;

/** A tool defined as data, with a handler in a module. */
export const dataTemplate: Template = {
  ...about,
  files: (values) => ({
    "package.json": formatManifest(values, {
      description: "Greets people in several languages.",
      files: ["lib", "trailblaze"],
      trailblaze: { tools: [["greet", "Greet someone"]] },
    }),
    "trailblaze/tools/greet.yaml": formatGreetingDefinition(values),
    "lib/greet.js": greetingCode,
    "test/greet.test.js": formatGreetingTest("../lib/greet.js"),
    ...commonFiles(about, values, {
      about: `A Trailblaze pack with one tool, \`${values.prefix}_greet\`: defined in \`trailblaze/tools/greet.yaml\`, implemented in
\`lib/greet.js\`.`,
    }),
  }),
};
