// An S3-compatible store: s3.mjs FOLDER ID SECRET BUCKET. Prints its port. s3rver does not check signatures of version 4: the
// package aws4 signs once more what a request says that it has signed, which has to come to the same.
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

async function check(ctx, next) {
  const equal = signatureOf(ctx.req).replaceAll(" ", "") === (ctx.req.headers.authorization ?? "none").replaceAll(" ", "");
  if (equal) return next();
  ctx.status = 403;
  ctx.body = "<Error><Code>SignatureDoesNotMatch</Code><Message>The signature is another one.</Message></Error>";
}

new account(123456789000, "test").createKeyPair(id, secret);
const server = new S3rver({ port: 0, address: "127.0.0.1", silent: true, directory, configureBuckets: [{ name: bucket }] });
server.middleware.unshift(check);
const { port } = await server.run();
console.log(port);
