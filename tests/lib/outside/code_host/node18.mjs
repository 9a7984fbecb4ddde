/** What libsodium-wrappers uses of later versions, for the Node 18 of Debian 12. Imported before it. */
import { webcrypto } from "node:crypto";

globalThis.crypto ??= webcrypto;
