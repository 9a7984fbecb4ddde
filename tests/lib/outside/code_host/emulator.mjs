/** emulate's services, with access to what is inside: their store, tokens and webhooks.
 *
 * emulate reads its seed only at start, and gives nothing of itself but an address. Tests need new users and repositories
 * in between. Its module of a service is therefore loaded by its path, which is possible because its version is pinned; its
 * `register` is called with everything that a service consists of. */
import { readFileSync } from "node:fs";

const DIST = new URL("../../../node_modules/emulate/dist/", import.meta.url);

/** The module of a service, the same instance that emulate uses. */
async function loadModule(service) {
  const text = readFileSync(new URL("api.js", DIST), "utf8");
  const match = new RegExp(`\\n  ${service}: \\{[^]*?import\\("\\./(dist-\\w+\\.js)"\\)`).exec(text);
  if (!match) throw new Error(`this version of emulate has no module for ${service}`);
  return import(new URL(match[1], DIST));
}

/** Start `service` on `port` of the loopback address: `{module, app, store, webhooks, tokens, close}`.
 * `wrap(inside)` returns the function that answers a Request, in place of `inside.app.fetch`. */
export async function startEmulator({ service, port, url, seed, wrap }) {
  const { createEmulator } = await import(new URL("api.js", DIST));
  const module = await loadModule(service);
  const plugin = module[`${service}Plugin`];
  const register = plugin.register;
  let inside;
  plugin.register = (app, store, webhooks, baseUrl, tokens) => {
    register.call(plugin, app, store, webhooks, baseUrl, tokens);
    inside = { module, app, store, webhooks, tokens, url: baseUrl };
    if (wrap) app.fetch = wrap(inside, app.fetch);
  };
  // emulate passes `port` on to listen(); an object keeps it from listening on all addresses.
  const emulator = await createEmulator({
    service,
    port: { host: "127.0.0.1", port },
    baseUrl: url,
    seed: { [service]: seed },
  });
  return { ...inside, reset: emulator.reset, close: emulator.close };
}
