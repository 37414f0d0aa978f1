import type { ToolHandler } from "@trailblaze/scripting";

const greetings = { en: "Hello", fr: "Bonjour", de: "Guten Tag" };

/** The arguments that `inputSchema` in trailblaze/tools/greet.json accepts. */
export type GreetArguments = { name: string; language: keyof typeof greetings };

export const greet: ToolHandler<GreetArguments> = ({ name, language }) => `${greetings[language]}, ${name}!`;
