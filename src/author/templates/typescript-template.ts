import { beforePublishing, commonFiles, formatManifest } from "./common-files.ts";
import { formatGreetingTest } from "./greeting.ts";
import { schemaPath, type Template } from "./template.ts";

const about = {
  summary: "a tool written in TypeScript and built into dist",
  preparation: ["npm run build"],
  trial: ({ prefix }) => `npx trailblaze call ${prefix}_greet name=Ada language=fr`,
} satisfies Omit<Template, "files">;

const code = `import type { ToolHandler } from "@trailblaze/scripting";

const greetings = { en: "Hello", fr: "Bonjour", de: "Guten Tag" };

/** The arguments that \`inputSchema\` in trailblaze/tools/greet.json accepts. */
export type GreetArguments = { name: string; language: keyof typeof greetings };

export const greet: ToolHandler<GreetArguments> = ({ name, language }) => \`\${greetings[language]}, \${name}!\`;
`;

const compilerOptions = {
  target: "ES2022",
  lib: ["ES2023", "DOM"],
  module: "NodeNext",
  moduleResolution: "NodeNext",
  types: [],
  strict: true,
  verbatimModuleSyntax: true,
  skipLibCheck: true,
  rootDir: "src",
  outDir: "dist",
};

const formatJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** A tool with a compiled handler; its definition refers to the build's output. */
export const typescriptTemplate: Template = {
  ...about,
  files: (values) => ({
    "package.json": formatManifest(values, {
      description: "Greets people in several languages.",
      files: ["dist", "trailblaze"],
      trailblaze: { tools: [["greet", "Greet someone"]] },
      scripts: {
        build: "tsc",
        test: "npm run build && node --test",
        prepack: "npm run build",
        prepublishOnly: `npm run build && ${beforePublishing}`,
      },
      devDependencies: { "@trailblaze/scripting": `^${values.hostVersion}`, typescript: "^5.9.0" },
    }),
    "tsconfig.json": formatJson({ compilerOptions, include: ["src"] }),
    "trailblaze/tools/greet.json": formatJson({
      $schema: schemaPath("tool"),
      name: `${values.prefix}_greet`,
      description: "Greet someone by name.",
      inputSchema: {
        type: "object",
        properties: {
          name: { type: "string", description: "Name of the person." },
          language: { enum: ["en", "fr", "de"], default: "en", description: "Language of the greeting." },
        },
        required: ["name"],
        additionalProperties: false,
      },
      annotations: { readOnlyHint: true },
      handler: "./dist/greet.js#greet",
    }),
    "src/greet.ts": code,
    "test/greet.test.js": formatGreetingTest("../dist/greet.js"),
    ...commonFiles(about, values, {
      about: `A Trailblaze pack with one tool, \`${values.prefix}_greet\`: defined in \`trailblaze/tools/greet.json\`, implemented in
\`src/greet.ts\` and built into \`dist\`. The definition refers to the build, so build before you validate.`,
      ignored: ["/dist/"],
    }),
  }),
};
