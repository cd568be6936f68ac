import { generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** Files with a certificate that signs itself, for localhost, made anew: no key lies in the repository. */
export function certificateFiles(): { cert: string; key: string } {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const ecdsaWithSha256 = sequence(objectId(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02));
  const name = sequence(set(sequence(objectId(0x55, 0x04, 0x03), der(0x0c, Buffer.from("localhost")))));
  const body = sequence(
    der(0x02, Buffer.concat([Buffer.of(1), randomBytes(8)])),
    ecdsaWithSha256,
    name,
    sequence(time(Date.now() - 86_400_000), time(Date.now() + 86_400_000)),
    name,
    publicKey.export({ type: "spki", format: "der" }),
  );
  const signature = der(0x03, Buffer.concat([Buffer.of(0), sign("sha256", body, privateKey)]));
  const certificate = sequence(body, ecdsaWithSha256, signature).toString("base64");

  const directory = mkdtempSync(join(tmpdir(), "fieldgate-tls-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const files = { cert: join(directory, "cert.pem"), key: join(directory, "key.pem") };
  writeFileSync(files.cert, `-----BEGIN CERTIFICATE-----\n${certificate}\n-----END CERTIFICATE-----\n`);
  writeFileSync(files.key, privateKey.export({ type: "pkcs8", format: "pem" }));
  return files;
}

function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...size), content]);
}

const sequence = (...parts: Buffer[]) => der(0x30, Buffer.concat(parts));
const set = (...parts: Buffer[]) => der(0x31, Buffer.concat(parts));
const objectId = (...bytes: number[]) => der(0x06, Buffer.from(bytes));

/** UTCTime: `YYMMDDhhmmssZ`. */
function time(at: number): Buffer {
  const digits = new Date(at).toISOString().replace(/[-:T]/g, "");
  return der(0x17, Buffer.from(`${digits.slice(2, 14)}Z`));
}
