// What the recipe for Mastra uses of `@mastra/core` 1.71, as its reference describes it. The package itself needs Node 22.13.

const tools = `interface StandardSchema<Output> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => Result<Output> | Promise<Result<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
    readonly jsonSchema: {
      readonly input: (options: { readonly target: string }) => Record<string, unknown>;
      readonly output: (options: { readonly target: string }) => Record<string, unknown>;
    };
  };
}
type Result<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string }[] };
interface ToolContext {
  abortSignal?: AbortSignal;
}
export interface Tool<Input = any> {
  id: string;
  description: string;
  inputSchema?: StandardSchema<Input>;
  execute?: (input: Input, context: ToolContext) => Promise<unknown>;
}
export declare function createTool<Input>(options: Tool<Input>): Tool<Input>;
`;

const agent = `import type { Tool } from "@mastra/core/tools";
export declare class Agent {
  constructor(options: {
    id: string;
    name: string;
    instructions: string;
    model: { id: \`\${string}/\${string}\`; url?: string; apiKey?: string };
    tools?: Record<string, Tool>;
  });
  generate(prompt: string): Promise<{ readonly text: string }>;
}
`;

/** Its files, by their paths in a project. */
export const mastraStub: Readonly<Record<string, string>> = {
  "node_modules/@mastra/core/package.json": JSON.stringify({
    name: "@mastra/core",
    type: "module",
    exports: { "./tools": { types: "./tools.d.ts" }, "./agent": { types: "./agent.d.ts" } },
  }),
  "node_modules/@mastra/core/tools.d.ts": tools,
  "node_modules/@mastra/core/agent.d.ts": agent,
};
