import { commonFiles, formatManifest } from "./common-files.ts";
import { formatGreetingDefinition, formatGreetingTest, greetingCode } from "./greeting.ts";
import { formatModeline, type Template, type TemplateValues } from "./template.ts";

const about = {
  summary: "tools, a toolset and a prompt, composed into a server",
  preparation: [],
  trial: ({ prefix }) => `npx trailblaze call ${prefix}_initials name="Ada Lovelace"`,
} satisfies Omit<Template, "files">;

const formatInitials = ({
  prefix,
}: TemplateValues): string => `${formatModeline("tool")}name: ${prefix}_initials
description: Make the initials of a name.
parameters:
  name: { type: string, description: The name., required: true }
annotations: { readOnlyHint: true }
handler: ./lib/initials.js#initials
`;

const initialsCode = `export function initials({ name }) {
  const parts = name.split(/\\s+/).filter((part) => part !== "");
  return parts.map((part) => part.charAt(0)).join("");
}
`;

const initialsTest = `import assert from "node:assert/strict";
import { test } from "node:test";
import { initials } from "../lib/initials.js";

test("uses the first letter of each part", () => {
  assert.equal(initials({ name: " Ada  Lovelace" }), "AL");
});
`;

const toolset = `${formatModeline("toolset")}name: welcoming
description: Tools for the front desk.
tools: [greet, initials]
`;

const formatPrompt = ({ prefix }: TemplateValues): string => `${formatModeline("prompt")}name: welcomeNote
description: Write a welcome note for a guest.
arguments:
  - { name: guest, description: Name of the guest., required: true }
content: Write a short welcome note for {{guest}}. Greet with ${prefix}_greet.
`;

const server = `${formatModeline("server")}name: reception
instructions: Ask for the guest's name first.
toolsets: [welcoming]
prompts: [welcomeNote]
`;

/** A server that the host serves, composed of the pack's items. */
export const composedTemplate: Template = {
  ...about,
  files: (values) => ({
    "package.json": formatManifest(values, {
      description: "Tools for welcoming guests.",
      files: ["lib", "trailblaze"],
      trailblaze: {
        servers: [["reception", "Tools for welcoming guests"]],
        tools: [
          ["greet", "Greet someone"],
          ["initials", "Get the initials of a name"],
        ],
        toolsets: [["welcoming", "Tools for the front desk"]],
        prompts: [["welcomeNote", "Write a welcome note"]],
      },
    }),
    "trailblaze/servers/reception.yaml": server,
    "trailblaze/toolsets/welcoming.yaml": toolset,
    "trailblaze/tools/greet.yaml": formatGreetingDefinition(values),
    "trailblaze/tools/initials.yaml": formatInitials(values),
    "trailblaze/prompts/welcomeNote.yaml": formatPrompt(values),
    "lib/greet.js": greetingCode,
    "lib/initials.js": initialsCode,
    "test/greet.test.js": formatGreetingTest("../lib/greet.js"),
    "test/initials.test.js": initialsTest,
    ...commonFiles(about, values, {
      about: `A Trailblaze pack with a server, \`reception\`, that is composed of the toolset \`welcoming\` and the prompt
\`welcomeNote\`. The host serves it: \`npx trailblaze start ${values.name.replace(/^@/, "")}/reception\`.`,
    }),
  }),
};
