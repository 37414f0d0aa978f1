// For tests of packs: mocks of the handler's context and the session's other tools, and a way to run a tool.
export { type InvokeOptions, invoke } from "./testing/invoke.ts";
export { createMockClient, type MockClient, type Stub } from "./testing/mock-client.ts";
export { createMockContext, type MockContext, type MockContextOverrides } from "./testing/mock-context.ts";
