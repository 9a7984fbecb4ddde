/** Secrets of repositories: emulate has no public key and drops their values. A test can open what was stored. */
import "./node18.mjs";

import sodium from "libsodium-wrappers";

import { json, ofRepository, problem } from "./answers.mjs";

const NONCE_AND_MAC_BYTES = 48; // of a sealed box
const NAME = /^(?!GITHUB_)[A-Z_][A-Z0-9_]*$/i;

await sodium.ready;

/** The key pair of a repository, made at its first use. */
function keyOf(world, repo) {
  const name = `key of ${repo.id}`;
  if (!world.secrets.has(name)) {
    const pair = sodium.crypto_box_keypair();
    world.secrets.set(name, { ...pair, id: String(568250167242549743n + BigInt(repo.id)) });
  }
  return world.secrets.get(name);
}

/** The text of a stored secret, or null. */
export function openSecret(world, repo, name) {
  const { publicKey, privateKey } = keyOf(world, repo);
  const sealed = world.secrets.get(`${repo.id}/${name.toUpperCase()}`);
  return sealed ? sodium.to_string(sodium.crypto_box_seal_open(sealed, publicKey, privateKey)) : null;
}

async function publicKey(call) {
  const refused = call.refuseWithout("secrets", "read");
  if (refused) return refused;
  const { id, publicKey } = keyOf(call.world, call.repo);
  return json(200, { key_id: id, key: Buffer.from(publicKey).toString("base64") });
}

async function putSecret(call, name) {
  const refused = call.refuseWithout("secrets", "write");
  if (refused) return refused;
  if (!NAME.test(name)) return problem(422, "Secret names can only contain alphanumeric characters or underscores.");
  const { id, publicKey, privateKey } = keyOf(call.world, call.repo);
  if (call.body.key_id !== id) return problem(422, "The key_id is not the one of this repository.");
  const sealed = Buffer.from(call.body.encrypted_value ?? "", "base64");
  if (sealed.length < NONCE_AND_MAC_BYTES) return problem(422, "Bad request - encrypted_value is not sealed.");
  try {
    sodium.crypto_box_seal_open(sealed, publicKey, privateKey);
  } catch {
    return problem(422, "Bad request - encrypted_value is not sealed for this key.");
  }
  const key = `${call.repo.id}/${name.toUpperCase()}`;
  const isNew = !call.world.secrets.has(key);
  call.world.secrets.set(key, sealed);
  return isNew ? json(201, {}) : json(204, null);
}

/** Its value is never told. */
async function getSecret(call, name) {
  const refused = call.refuseWithout("secrets", "read");
  if (refused) return refused;
  if (!call.world.secrets.has(`${call.repo.id}/${name.toUpperCase()}`)) return problem(404, "Not Found");
  const at = new Date().toISOString();
  return json(200, { name: name.toUpperCase(), created_at: at, updated_at: at });
}

/** Store a secret as somebody at the code host does. */
export function storeSecret(world, repo, name, value) {
  const sealed = sodium.crypto_box_seal(value, keyOf(world, repo).publicKey);
  world.secrets.set(`${repo.id}/${name.toUpperCase()}`, Buffer.from(sealed));
}

export function removeSecret(world, repo, name) {
  world.secrets.delete(`${repo.id}/${name.toUpperCase()}`);
}

export const SECRETS = ofRepository([
  ["GET", /^\/actions\/secrets\/public-key$/, publicKey],
  ["GET", /^\/actions\/secrets\/([^/]+)$/, getSecret],
  ["PUT", /^\/actions\/secrets\/([^/]+)$/, putSecret],
]);
