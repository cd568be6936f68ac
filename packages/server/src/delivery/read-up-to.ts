/** The text of a stream, which is let go as soon as it is longer than allowed. */
export async function readUpTo(stream: ReadableStream<Uint8Array>, mostBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop cancels the stream.
  for await (const chunk of stream) {
    size += chunk.length;
    if (size > mostBytes) throw new Error(`The answer is longer than ${mostBytes} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
