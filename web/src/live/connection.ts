// The WebSocket to a run under way. A connection that breaks is made again, and goes on after the last message that came.

import { decode, type Frame } from "../frame";
import type { Greeting } from "./run";

export interface Listener {
  /** The run says who it is; `isBack` if it is the same reading of the run as before. */
  greeted(about: Greeting, isBack: boolean): void;
  packets(frame: Frame): void;
  told(message: Record<string, unknown>): void;
  /** Whether the studio answers, and says that the run is not under way any more. */
  isGone(): Promise<boolean>;
  /** Connected, trying, or ended for good: why. */
  state(state: "connected" | "reconnecting" | "ended", why: string): void;
}

const FIRST_WAIT_MS = 250, LONGEST_WAIT_MS = 5000;
/** So often in a row a run has to be gone, one after the other: a busy one may not answer in time. */
const GONE_FOR_GOOD = 2;

export class Connection {
  private socket: WebSocket | null = null;
  private hub: string | null = null;
  private after = -1;
  private wait = FIRST_WAIT_MS;
  private gone = 0;
  private closed = false;
  private nextId = 1;
  private readonly waiting = new Map<number, { done: (v: unknown) => void; fail: (e: Error) => void }>();

  constructor(private readonly name: string, private readonly listener: Listener) {
    this.connect();
  }

  close(): void {
    this.closed = true;
    this.socket?.close();
    this.forget("the page is no longer connected to this run");
  }

  /** Asks in the words of the control socket (`wayhop ctl`). */
  ask(request: Record<string, unknown>): Promise<unknown> {
    const socket = this.socket;
    if (socket?.readyState !== WebSocket.OPEN) return Promise.reject(new Error("not connected to the run at the moment"));
    const id = this.nextId++;
    return new Promise((done, fail) => {
      this.waiting.set(id, { done, fail });
      socket.send(JSON.stringify({ wayhop: 1, id, ...request }));
    });
  }

  private connect(): void {
    const q = new URLSearchParams({ run: this.name });
    if (this.hub !== null && this.after >= 0) { q.set("hub", this.hub); q.set("after", String(this.after)); }
    const address = new URL(`/api/live/watch?${q}`, location.href);
    address.protocol = address.protocol.replace("http", "ws");
    const socket = new WebSocket(address);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    socket.onmessage = (e) => { if (this.socket === socket && !this.closed) this.heard(e.data as string | ArrayBuffer); };
    socket.onclose = () => { if (this.socket === socket && !this.closed) this.broken(); };
  }

  private heard(data: string | ArrayBuffer): void {
    this.wait = FIRST_WAIT_MS;
    this.gone = 0;
    if (typeof data !== "string") {
      const frame = decode(data);
      this.after = frame.head["n"] as number;
      this.listener.packets(frame);
      return;
    }
    const message = JSON.parse(data) as Record<string, unknown>;
    if (typeof message["n"] === "number") this.after = message["n"];
    switch (message["kind"]) {
      case "run": {
        const about = message as unknown as Greeting;
        const isBack = about.hub === this.hub;
        if (!isBack) { this.hub = about.hub; this.after = -1; }
        this.listener.greeted(about, isBack);
        this.listener.state("connected", "");
        break;
      }
      case "answer": {
        const asked = this.waiting.get(message["id"] as number);
        this.waiting.delete(message["id"] as number);
        if ("error" in message) asked?.fail(new Error(String(message["error"]))); else asked?.done(message["ok"]);
        break;
      }
      case "end":
        this.end(String(message["why"]));
        break;
      default:
        this.listener.told(message);
    }
  }

  private broken(): void {
    this.forget("the connection was lost");
    this.listener.state("reconnecting", "lost the connection to the studio; trying again");
    setTimeout(() => { void this.tryAgain(); }, this.wait);
    this.wait = Math.min(LONGEST_WAIT_MS, this.wait * 2);
  }

  /** Connects again, unless the run ended while there was no connection: then nobody will say so. */
  private async tryAgain(): Promise<void> {
    this.gone = (await this.listener.isGone()) ? this.gone + 1 : 0;
    if (this.closed) return;
    if (this.gone >= GONE_FOR_GOOD) this.end("the run has ended");
    else this.connect();
  }

  private end(why: string): void {
    this.closed = true;
    this.forget("the run has ended");
    this.listener.state("ended", why);
  }

  private forget(why: string): void {
    for (const asked of this.waiting.values()) asked.fail(new Error(why));
    this.waiting.clear();
  }
}
