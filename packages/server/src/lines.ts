/**
 * The lines of a stream of bytes, without their ends. Unlike `readline` it passes the stream's errors on, and it holds
 * one piece of the stream and one line at a time.
 */
export async function* splitLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of chunks) {
    const text = rest + decoder.decode(chunk, { stream: true });
    let start = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", start)) {
      yield text.slice(start, text[end - 1] === "\r" ? end - 1 : end);
      start = end + 1;
    }
    rest = text.slice(start);
  }
  rest += decoder.decode();
  if (rest !== "") yield rest;
}
