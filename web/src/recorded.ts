// A recorded run: what is at hand of it, and how the rest is fetched.

import * as api from "./api";
import type { Box } from "./camera";
import { bounds, Motion } from "./motion";
import { Stretch, Stretches } from "./packets";
import { NOWHERE } from "./ring";

export class Recorded {
  readonly stretches: Stretches;
  motion: Motion | null = null;
  box: Box = NOWHERE;
  /** Whether no place of any node is known, at any moment. */
  isNowhere = false;
  private loading = false;

  private constructor(readonly name: string, readonly info: api.RunInfo, private readonly arrived: () => void,
    private readonly complain: (e: unknown) => void) {
    // A stretch holds some 20,000 rows on average.
    const width = Math.min(info.end_ns + 1, Math.max(1e6, Math.ceil((info.end_ns * 20_000) / Math.max(info.rows, 1))));
    this.stretches = new Stretches((from, to) => this.packets(from, to), info.end_ns, width, arrived);
  }

  /** `arrived` is called when data came in. */
  static async open(name: string, arrived: () => void, complain: (e: unknown) => void): Promise<Recorded> {
    return new Recorded(name, await api.openRun(name), arrived, complain);
  }

  /** The motion that holds at a moment, if it is at hand. */
  motionAt(moment: number): Motion | null {
    if (this.motion && !this.motion.covers(moment)) void this.loadMotion(Math.max(0, moment));
    return this.motion;
  }

  async loadMotion(at: number): Promise<void> {
    if (this.loading) return;
    this.loading = true;
    try {
      const isFirst = this.motion === null;
      const frame = await api.positions(this.name, at, this.info.end_ns + 1);
      this.motion = new Motion(frame, this.info.nodes);
      if (isFirst) {
        const box = bounds(frame, this.info.end_ns);
        this.isNowhere = box === null;
        this.box = box ?? NOWHERE;
      }
      this.arrived();
    } catch (e) {
      this.complain(e);
    } finally {
      this.loading = false;
    }
  }

  private async packets(from: number, to: number): Promise<Stretch> {
    try {
      return new Stretch(await api.packets(this.name, from, to));
    } catch (e) {
      this.complain(e);
      // An empty one, so that the same question is not asked with each picture.
      const none = { head: { rows: 0, from_ns: from, until_ns: to, events: [], classes: [], reasons: [] }, columns: { time_ns: new Float64Array() } };
      return new Stretch(none);
    }
  }
}
