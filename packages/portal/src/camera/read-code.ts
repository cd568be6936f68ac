/** Finds the text of a QR code in a picture; null where there is none. */
export type ReadCode = (source: HTMLVideoElement | ImageBitmap) => Promise<string | null>;

interface Detector {
  detect(source: CanvasImageSource): Promise<readonly { readonly rawValue: string }[]>;
}
interface DetectorClass {
  new (options: { formats: string[] }): Detector;
  getSupportedFormats(): Promise<string[]>;
}

/** The browser's own reader where it has one, which costs nothing to load; else the decoder of `qr`. */
export async function openReader(): Promise<ReadCode> {
  return (await ownReader()) ?? decoderReader();
}

async function ownReader(): Promise<ReadCode | null> {
  const { BarcodeDetector } = globalThis as { BarcodeDetector?: DetectorClass };
  try {
    if (!(await BarcodeDetector?.getSupportedFormats())?.includes("qr_code")) return null;
  } catch {
    // Some systems offer the interface without what is behind it.
    return null;
  }
  const detector = BarcodeDetector && new BarcodeDetector({ formats: ["qr_code"] });
  return async (source) => (await detector?.detect(source))?.[0]?.rawValue ?? null;
}

/** Larger pictures only take longer. */
const mostPixels = 1280;

async function decoderReader(): Promise<ReadCode> {
  const { decodeQR } = await import("qr/decode.js");
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("2d", { willReadFrequently: true });
  return async (source) => {
    const width = "videoWidth" in source ? source.videoWidth : source.width;
    const height = "videoHeight" in source ? source.videoHeight : source.height;
    if (!context || !width || !height) return null;
    const scale = Math.min(1, mostPixels / Math.max(width, height));
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    context.drawImage(source, 0, 0, canvas.width, canvas.height);
    try {
      return decodeQR(context.getImageData(0, 0, canvas.width, canvas.height), { timeLimit: 200, effort: 4 });
    } catch {
      // It throws where it finds no code; the next frame may have one.
      return null;
    }
  };
}
