import type { AuthError, AuthManager, SelectionRequiredError, StepUpRequiredError } from "@fieldgate/client";
import type { AuthConfig } from "@fieldgate/contract";
import { readPicture, scanWithCamera } from "../camera/scan.ts";
import type { StringKey } from "../strings/en.ts";
import type { CodeStep, Step } from "./step.ts";
import { type Trouble, troubleOf } from "./trouble.ts";
import { type Audience, has, type Provider } from "./ways.ts";

/** Within this many ms nothing is sent again: the message may still be under way. */
const resendPause = 60_000;

const citizenSteps: readonly Step[] = [{ name: "recipient" }, { name: "id" }, { name: "card", camera: false }];

/** The way in, without a screen: which step comes next, what is under way, and what went wrong. */
export class SignInFlow {
  readonly auth: AuthManager;
  readonly config: AuthConfig;
  readonly audience: Audience;
  step: Step;
  busy = false;
  trouble: Trouble | null = null;
  /** Something good to know. */
  status: StringKey | null = null;
  readonly #changed: (stepChanged: boolean) => void;
  #camera: AbortController | undefined;

  constructor(auth: AuthManager, config: AuthConfig, audience: Audience, changed: (stepChanged: boolean) => void) {
    this.auth = auth;
    this.config = config;
    this.audience = audience;
    this.#changed = changed;
    this.step = this.first;
  }

  /** Where it begins: with the choice, unless there is nothing to choose. */
  get first(): Step {
    if (this.audience === "workers" || this.citizenSteps.length === 0) return { name: "worker" };
    return { name: "ways" };
  }

  get citizenSteps(): readonly Step[] {
    if (this.audience === "workers") return [];
    return citizenSteps.filter(({ name }) => has(this.config, name === "recipient" ? "otp" : "id"));
  }

  go(step: Step): void {
    this.closeCamera();
    this.step = step;
    this.trouble = null;
    this.status = null;
    this.#changed(true);
  }

  fail(trouble: Trouble): void {
    this.trouble = trouble;
    this.status = null;
    this.#changed(false);
  }

  password(username: string, password: string): Promise<void> {
    return this.#attempt(() => this.auth.login({ username, password }));
  }

  provider({ type, name }: Provider): Promise<void> {
    return this.#attempt(() => this.auth.login(null, type), name);
  }

  requestCode(recipient: string): Promise<void> {
    return this.#attempt(async () => {
      const otp = this.auth.adapter("otp");
      const { expiresIn } = await otp.requestOtp(recipient);
      const again = this.step.name === "code";
      const verify = (code: string) => otp.verifyOtp(recipient, code);
      const resend = { at: Date.now() + resendPause, send: () => this.requestCode(recipient) };
      this.go({
        name: "code",
        to: recipient,
        isSecond: false,
        expiresAt: Date.now() + expiresIn * 1000,
        verify,
        resend,
      });
      if (again) this.status = "resent";
    });
  }

  verifyCode(step: CodeStep, code: string): Promise<void> {
    // The service says no more than "wrong or too old"; here it is known.
    if (Date.now() >= step.expiresAt) return Promise.resolve(this.fail({ key: "code_expired" }));
    return this.#attempt(() => step.verify(code));
  }

  choose(choice: SelectionRequiredError, entityId: string, birthYear?: number): Promise<void> {
    return this.#attempt(async () => {
      try {
        await choice.select(entityId, birthYear);
      } catch (error) {
        if ((error as AuthError).code !== "invalid_code") throw error;
        // A choice can be made once: what does not fit begins anew.
        this.go({ name: "recipient" });
        this.fail({ key: birthYear === undefined ? "code_expired" : "invalid_year" });
      }
    });
  }

  nationalId(idNumber: string, dateOfBirth: string): Promise<void> {
    return this.#attempt(() => this.auth.adapter("id").authenticateWithId(idNumber, dateOfBirth));
  }

  card(text: string): Promise<void> {
    return this.#attempt(() => this.auth.adapter("id").authenticateWithQr(text));
  }

  picture(file: Blob): Promise<void> {
    return this.#attempt(async () => this.auth.adapter("id").authenticateWithQr(await readPicture(file)));
  }

  openCamera(): void {
    this.go({ name: "card", camera: true });
  }

  /** Reads the card that is held before the camera; the picture of it is shown in `video`. */
  async scan(video: HTMLVideoElement): Promise<void> {
    if (this.#camera) return;
    const camera = new AbortController();
    this.#camera = camera;
    try {
      const text = await scanWithCamera(video, camera.signal);
      if (text === null) return;
      this.go({ name: "card", camera: false });
      await this.card(text);
    } catch (error) {
      this.go({ name: "card", camera: false });
      this.fail(troubleOf(error));
    }
  }

  closeCamera(): void {
    this.#camera?.abort();
    this.#camera = undefined;
  }

  async #attempt(work: () => Promise<unknown>, name?: string): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    this.trouble = null;
    this.status = null;
    this.#changed(false);
    try {
      // The adapters' code is loaded then.
      await this.auth.initialize();
      await work();
    } catch (error) {
      this.#next(error as AuthError, name);
    } finally {
      this.busy = false;
      this.#changed(false);
    }
  }

  /** Some refusals are the next step. */
  #next(error: AuthError, name: string | undefined): void {
    if (error.code === "selection_required") {
      this.go({ name: "household", choice: error as SelectionRequiredError });
    } else if (error.code === "step_up_required") {
      const { destination = "", expiresIn = 300, complete } = error as StepUpRequiredError;
      this.go({
        name: "code",
        to: destination,
        isSecond: true,
        expiresAt: Date.now() + expiresIn * 1000,
        verify: complete,
      });
    } else {
      this.fail(troubleOf(error, name));
    }
  }
}
