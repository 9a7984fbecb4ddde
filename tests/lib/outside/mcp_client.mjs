// An official client of the agent-tool protocol, driven by lines of JSON: node mcp_client.mjs CONFIG
//
//   CONFIG   {"url", "key", "mode", "answer"}. `mode`: `sdk`, the package of the legacy revisions; `legacy`, `auto` or `pin`,
//            the new package. `answer`: what the user says to a question, {"action", "content"}; without it the client cannot ask
//   stdin    one call in each line: {"method": "callTool", "params": {...}}
//   stdout   a line for each: {"result": {...}} or {"error": {"code", "message"}}; the first is that of connecting
import readline from 'node:readline';

const { url, key, mode, answer } = JSON.parse(process.argv[2]);
const INFO = { name: 'expops-test', version: '1' };

function say(message) {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

function failure(error) {
  const { code = error.status ?? null, data = null } = error;
  return { error: { code, message: String(error.message ?? error), data } };
}

async function parts() {
  if (mode !== 'sdk') return import('@modelcontextprotocol/client');
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
  return { Client, StreamableHTTPClientTransport };
}

async function connect() {
  const { Client, StreamableHTTPClientTransport } = await parts();
  const capabilities = answer ? { elicitation: {} } : {};
  const negotiation = { legacy: 'legacy', auto: 'auto', pin: { pin: '2026-07-28' } }[mode];
  const client = new Client(INFO, { capabilities, ...(negotiation && { versionNegotiation: { mode: negotiation } }) });
  if (answer && mode !== 'sdk') client.setRequestHandler('elicitation/create', async () => answer);
  const headers = { Authorization: `Bearer ${key}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  return client;
}

let client;
try {
  client = await connect();
  say({ result: { server: client.getServerVersion(), instructions: client.getInstructions() } });
} catch (error) {
  say(failure(error));
  process.exit(0);
}
for await (const line of readline.createInterface({ input: process.stdin })) {
  const { method, params } = JSON.parse(line);
  try {
    say({ result: (await client[method](params)) ?? {} });
  } catch (error) {
    say(failure(error));
  }
}
await client.close();
