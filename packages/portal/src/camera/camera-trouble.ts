/** Why no code could be had from the camera or a picture. */
export type CameraReason = "camera_denied" | "camera_missing" | "camera_busy" | "qr_unreadable";

export class CameraTrouble extends Error {
  readonly reason: CameraReason;

  constructor(reason: CameraReason, cause?: unknown) {
    super(reason, { cause });
    this.reason = reason;
  }
}

/** What `getUserMedia` rejects with, in our words. */
export function cameraTrouble(error: unknown): CameraTrouble {
  const { name = "" } = error as { name?: string };
  if (name === "NotAllowedError" || name === "SecurityError") return new CameraTrouble("camera_denied", error);
  if (name === "NotReadableError" || name === "AbortError") return new CameraTrouble("camera_busy", error);
  return new CameraTrouble("camera_missing", error);
}
