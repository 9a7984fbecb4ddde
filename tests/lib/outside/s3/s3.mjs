// An S3-compatible store: s3.mjs FOLDER ID SECRET BUCKET. Prints its port. s3rver does not check signatures of version 4: the
// package aws4 signs once more what a request says that it has signed, which has to come to the same. Nor does it check the
// hash of the content, without which it takes none here.
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import aws4 from "aws4";
import account from "s3rver/lib/models/account.js";
import S3rver from "s3rver";

const [directory, id, secret, bucket] = process.argv.slice(2);
const SIGNED = /^AWS4-HMAC-SHA256 Credential=([^/]+)\/\d{8}\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=/;

function signatureOf(request) {
  const [, key, region, names] = SIGNED.exec(request.headers.authorization) ?? [];
  if (key !== id) return "";
  const headers = Object.fromEntries(names.split(";").map((name) => [name, request.headers[name]]));
  const given = { host: request.headers.host, path: request.url, method: request.method, service: "s3", region, headers };
  return aws4.sign(given, { accessKeyId: id, secretAccessKey: secret }).headers.Authorization;
}

function refuse(ctx, status, code, message) {
  ctx.status = status;
  ctx.body = `<Error><Code>${code}</Code><Message>${message}</Message></Error>`;
}

async function check(ctx, next) {
  const { authorization = "none", "x-amz-content-sha256": hash } = ctx.req.headers;
  if (signatureOf(ctx.req).replaceAll(" ", "") !== authorization.replaceAll(" ", ""))
    return refuse(ctx, 403, "SignatureDoesNotMatch", "The signature is another one.");
  const content = Buffer.concat(await ctx.req.toArray());
  if (createHash("sha256").update(content).digest("hex") !== hash)
    return refuse(ctx, 400, "XAmzContentSHA256Mismatch", "The hash is another one.");
  const { headers, method, url } = ctx.req;
  ctx.req = Object.assign(Readable.from([content], { objectMode: false }), { headers, method, url }); // what s3rver reads
  return next();
}

new account(123456789000, "test").createKeyPair(id, secret);
const server = new S3rver({ port: 0, address: "127.0.0.1", silent: true, directory, configureBuckets: [{ name: bucket }] });
server.middleware.unshift(check);
const { port } = await server.run();
console.log(port);
