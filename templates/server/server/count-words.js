/** @type {import("@trailblaze/scripting").ToolDefinition<{ text: string }>} */
export const countWords = {
  name: "my_tools_countWords",
  description: "Count the words of a text.",
  inputSchema: {
    type: "object",
    properties: { text: { type: "string", description: "The text." } },
    required: ["text"],
  },
  annotations: { readOnlyHint: true },
  handler: ({ text }) => ({ words: text.split(/\s+/).filter((word) => word !== "").length }),
};
