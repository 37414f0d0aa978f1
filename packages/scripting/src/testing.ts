// For tests of packs: a handler's context, the session's other tools, and a tool run without a host.
export { type InvokeOptions, invoke } from "./testing/invoke.ts";
export { createMockClient, type MockClient, type Stub } from "./testing/mock-client.ts";
export { createMockContext, type MockContext, type MockContextOverrides } from "./testing/mock-context.ts";
