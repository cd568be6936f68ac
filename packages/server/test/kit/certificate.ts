import { createHash, generateKeyPairSync, sign } from "node:crypto";

/** A value of ASN.1 in DER: a tag, a length and what is inside. */
function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  const { length } = body;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), body]);
}

const sequence = (...parts: readonly Uint8Array[]) => der(0x30, ...parts);
const oid = (hex: string) => der(0x06, Buffer.from(hex, "hex"));
const ecdsaWithSha256 = sequence(oid("2a8648ce3d040302"));
const commonName = oid("550403");
const subjectAltName = oid("551d11");

function time(instant: Date): Buffer {
  const text = instant.toISOString().replace(/[-:T]/g, "").slice(0, 14);
  return der(0x18, Buffer.from(`${text}Z`));
}

/** A self-signed certificate for one host and its key, as PEM. */
export function makeCertificate(host: string, validity: { readonly from: Date; readonly to: Date }) {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const name = sequence(der(0x31, sequence(commonName, der(0x0c, Buffer.from(host)))));
  const altNames = der(0x04, sequence(der(0x82, Buffer.from(host))));
  const spki = publicKey.export({ format: "der", type: "spki" });
  const serial = createHash("sha256").update(spki).digest().subarray(0, 8);
  serial[0] = 0x11;
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, serial),
    ecdsaWithSha256,
    name,
    sequence(time(validity.from), time(validity.to)),
    name,
    spki,
    der(0xa3, sequence(sequence(subjectAltName, altNames))),
  );
  const signature = der(0x03, Buffer.from([0]), sign("sha256", body, privateKey));
  const lines = sequence(body, ecdsaWithSha256, signature)
    .toString("base64")
    .match(/.{1,64}/g);
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines?.join("\n")}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ format: "pem", type: "pkcs8" }) as string,
  };
}
