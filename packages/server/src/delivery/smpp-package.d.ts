/** The parts of the `smpp` package that are used here; it has no types of its own. */
declare module "smpp" {
  import type { EventEmitter } from "node:events";
  import type { Server as NetServer, Socket } from "node:net";

  export interface Pdu {
    readonly command: string;
    readonly command_status: number;
    readonly sequence_number: number;
    readonly message_id?: string;
    readonly esm_class?: number;
    readonly data_coding?: number;
    readonly registered_delivery?: number;
    readonly source_addr?: string;
    readonly source_addr_ton?: number;
    readonly source_addr_npi?: number;
    readonly destination_addr?: string;
    readonly system_id?: string;
    readonly password?: string;
    readonly interface_version?: number;
    readonly short_message?: { readonly message: string | Buffer; readonly udh?: readonly Buffer[] };
    readonly message_payload?: { readonly message: string | Buffer };
    readonly receipted_message_id?: string;
    readonly message_state?: number;
    isResponse(): boolean;
    response(fields?: Readonly<Record<string, unknown>>): Pdu;
  }

  export interface Session extends EventEmitter {
    readonly socket: Socket;
    /** False where the connection is gone: then nothing is called back. */
    send(pdu: Pdu, answered?: (answer: Pdu) => void): boolean;
    close(closed?: () => void): void;
    destroy(closed?: () => void): void;
  }

  export interface Server extends NetServer {
    readonly sessions: Session[];
  }

  export const PDU: new (command: string, fields?: Readonly<Record<string, unknown>>) => Pdu;
  export function connect(options: object): Session;
  export function createServer(options: object, listener: (session: Session) => void): Server;
}
