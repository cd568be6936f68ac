import type { Readable } from "node:stream";
import type { NodemailerError } from "nodemailer";
import SMTPConnection, { type SMTPConnectionOptions } from "nodemailer/lib/smtp-connection";
import type { SmtpConfig } from "../config/delivery-config.ts";
import { ChannelRefused } from "./channel.ts";

type Done = (error?: NodemailerError | null) => void;

/** One connection to a mail server, with promises. After any error it is of no more use. */
export class MailConnection {
  readonly #config: SmtpConfig;
  readonly #smtp: SMTPConnection;
  #isOver = false;

  private constructor(config: SmtpConfig) {
    this.#config = config;
    this.#smtp = new SMTPConnection(connectionOptions(config));
    this.#smtp.once("end", () => {
      this.#isOver = true;
    });
    // Each step below listens for its own error; one between two steps is told by the next of them.
    this.#smtp.on("error", () => {});
  }

  static async open(config: SmtpConfig, signal: AbortSignal): Promise<MailConnection> {
    const connection = new MailConnection(config);
    const smtp = connection.#smtp;
    await connection.#step(signal, (done) => smtp.connect(done));
    const { auth } = config;
    if (auth) await connection.#step(signal, (done) => smtp.login({ user: auth.user, pass: auth.password }, done));
    return connection;
  }

  /** Whether it has ended, as servers do with those that are silent for long. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Asks the server whether it is still there, and makes it ready for the next message. */
  reset(signal: AbortSignal): Promise<void> {
    return this.#step(signal, (done) => this.#smtp.reset(done));
  }

  send(envelope: { from: string; to: string }, message: Readable, signal: AbortSignal): Promise<void> {
    return this.#step(signal, (done) => this.#smtp.send(envelope, message, done));
  }

  /** Says goodbye, without waiting for an answer. */
  quit(): void {
    if (this.#isOver) return;
    this.#smtp.quit();
    setTimeout(() => this.close(), 1000).unref();
  }

  close(): void {
    this.#smtp.close();
  }

  #step(signal: AbortSignal, work: (done: Done) => void): Promise<void> {
    const smtp = this.#smtp;
    return new Promise<void>((resolve, reject) => {
      const settle = (act: () => void) => {
        signal.removeEventListener("abort", abort);
        smtp.removeListener("error", finish);
        smtp.removeListener("end", end);
        act();
      };
      const finish = (error?: NodemailerError | null) => {
        if (!error) return settle(resolve);
        const told = this.#describe(error);
        settle(() => reject(told));
        // After a refusal of one message the connection serves the next.
        if (!(told instanceof ChannelRefused)) this.close();
      };
      const end = () => finish(new Error("the server hung up"));
      const abort = () => {
        settle(() => reject(signal.reason as Error));
        this.close();
      };
      signal.addEventListener("abort", abort, { once: true });
      smtp.once("error", finish);
      smtp.once("end", end);
      if (signal.aborted) abort();
      else work(finish);
    });
  }

  /** In our own words: what the server says may hold the address. */
  #describe(error: NodemailerError): Error {
    const { name } = this.#config;
    const answer = /^\d{3}(?: \d\.\d{1,3}\.\d{1,3})?/.exec(error.response ?? "")?.[0];
    const where =
      error.command === undefined || error.command === "CONN" ? "" : ` at ${error.command.split(" ", 1)[0]}`;
    const aboutMessage = error.code === "EENVELOPE" || error.code === "EMESSAGE";
    if (answer !== undefined) {
      const sentence = `The mail server of ${name} answered ${answer}${where}.`;
      return aboutMessage && error.permanent === true ? new ChannelRefused(sentence) : new Error(sentence);
    }
    const why = error.originalCode ?? error.code ?? error.message;
    return new Error(`The mail server of ${name} cannot be used${where}: ${why}.`);
  }
}

function connectionOptions({ host, port, tls, ca, timeoutMs }: SmtpConfig): SMTPConnectionOptions {
  return {
    host,
    port,
    secure: tls === "implicit",
    requireTLS: tls === "starttls",
    ignoreTLS: tls === "none",
    tls: { minVersion: "TLSv1.2", ...(ca !== null && { ca }) },
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: 10 * 60_000,
    maxResponseSize: 64 * 1024,
    logger: false,
  };
}
