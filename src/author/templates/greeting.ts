import { formatModeline, type TemplateValues } from "./template.ts";

/** The handler that several templates share. */
export const greetingCode = `const greetings = { en: "Hello", fr: "Bonjour", de: "Guten Tag" };

export function greet({ name, language = "en" }) {
  return \`\${greetings[language]}, \${name}!\`;
}
`;

export const formatGreetingDefinition = ({
  prefix,
}: TemplateValues): string => `${formatModeline("tool")}name: ${prefix}_greet
description: Greet somebody by name.
parameters:
  name: { type: string, description: Whom to greet., required: true }
  language: { type: string, enum: [en, fr, de], description: Language of the greeting., default: en }
annotations: { readOnlyHint: true }
handler: ./lib/greet.js#greet
`;

/** `module`: path of the handler's module from the test's folder. */
export const formatGreetingTest = (module: string): string => `import assert from "node:assert/strict";
import { test } from "node:test";
import { greet } from "${module}";

test("greets in the requested language", () => {
  assert.equal(greet({ name: "Ada", language: "fr" }), "Bonjour, Ada!");
});

test("greets in English", () => {
  assert.equal(greet({ name: "Ada", language: "en" }), "Hello, Ada!");
});
`;
