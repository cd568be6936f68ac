import { CameraTrouble, cameraTrouble } from "./camera-trouble.ts";
import { openReader } from "./read-code.ts";

/** Looks through the camera until it sees a code. Null when it was told to stop. */
export async function scanWithCamera(video: HTMLVideoElement, signal: AbortSignal): Promise<string | null> {
  const stream = await openCamera();
  try {
    if (signal.aborted) return null;
    video.srcObject = stream;
    const [read] = await Promise.all([openReader(), video.play().catch(() => undefined)]);
    while (!signal.aborted) {
      const text = await read(video);
      if (text) return text;
      await new Promise((resolve) => setTimeout(resolve, 120));
    }
    return null;
  } finally {
    // The light beside the camera goes out.
    for (const track of stream.getTracks()) track.stop();
    video.srcObject = null;
  }
}

async function openCamera(): Promise<MediaStream> {
  const { mediaDevices } = navigator;
  if (!mediaDevices?.getUserMedia) throw new CameraTrouble("camera_missing");
  try {
    // The one on the back: it is the one that sees a card.
    return await mediaDevices.getUserMedia({
      audio: false,
      video: { facingMode: "environment", width: { ideal: 1280 } },
    });
  } catch (error) {
    throw cameraTrouble(error);
  }
}

/** The text of the code in a picture that somebody chose. */
export async function readPicture(file: Blob): Promise<string> {
  const [picture, read] = await Promise.all([
    createImageBitmap(file).catch((error) => {
      throw new CameraTrouble("qr_unreadable", error);
    }),
    openReader(),
  ]);
  const text = await read(picture);
  picture.close();
  if (!text) throw new CameraTrouble("qr_unreadable");
  return text;
}
