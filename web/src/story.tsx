// The story of a packet: all that a run knows of it, across nodes, in order of time.

import { computed, effect, signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import * as api from "./api";
import { causeOf } from "./causes";
import { showMoment } from "./clock";
import { FramesPanel } from "./frames";
import { goToLoss } from "./losses";
import { stories } from "./route";
import * as state from "./state";
import { currentStep, isLost, parsePacket, reasonInWords, type Story } from "./told";

const problem = signal<string | null>(null);
const loading = signal(false);
/** The line that has the moment of the replay. */
const current = computed(() => stories.value.map((s) => currentStep(s.steps, state.t.value)));

/** Real radios do not say what became of their frames. */
const ofHosts = () => ["lab", "field"].includes(state.info.value?.world ?? "");

/** Lines shown at once; the rest comes with a button. */
const MOST_LINES = 300;

/** Fetches the story of the packet that the address or a click names. */
effect(() => {
  const run = state.info.value ? state.runName.value : null, wanted = state.packet.value;
  if (run === null || wanted === null) { stories.value = []; problem.value = null; return; }
  if (stories.peek().some((s) => s.packet === wanted && s.run === run)) return;
  void load(run, { packet: wanted });
});

/** Questions so far: only the answer to the last one counts. */
let asked = 0;

async function load(run: string, query: Record<string, number>): Promise<Story[]> {
  const mine = (asked += 1);
  loading.value = true;
  problem.value = null;
  try {
    const got = (await api.story(run, query)).map((s) => ({ ...s, run }));
    if (mine !== asked || state.runName.value !== run) return [];
    stories.value = got;
    return got;
  } catch (e) {
    if (mine !== asked) return [];
    stories.value = [];
    problem.value = e instanceof Error ? e.message : String(e);
    return [];
  } finally {
    if (mine === asked) loading.value = false;
  }
}

/** A packet that a person typed; a flow's is looked up by its number there. The replay goes to its first moment. */
async function search(text: string): Promise<string | null> {
  const wanted = parsePacket(text), run = state.runName.value;
  if (wanted === null || run === null) return "Enter the packet's number, or flow:number such as 0:172";
  const got = await load(run, wanted);
  if (got.length > 0) {
    state.packet.value = got[0].packet;
    if (got[0].steps.length > 0) state.jump(Math.round(got[0].steps[0].time_s * 1e9));
  } else if ("packet" in wanted) {
    state.packet.value = wanted.packet;
  }
  return null;
}

function Search() {
  const submit = async (e: Event) => {
    e.preventDefault();
    const form = e.currentTarget as HTMLFormElement;
    const field = form.elements.namedItem("packet") as HTMLInputElement;
    field.setCustomValidity("");
    const wrong = await search(field.value);
    field.setCustomValidity(wrong ?? "");
    if (form.reportValidity()) field.blur();
  };
  return (
    <form class="find" onSubmit={(e) => void submit(e)}>
      <label>Packet{" "}
        <input id="packet" name="packet" size={12} autocomplete="off" placeholder="2741 or 3:17" title="The packet's number in the run, or flow:number (P)"
          onInput={(e) => e.currentTarget.setCustomValidity("")} />
      </label>{" "}
      <button type="submit">Explain</button>
    </form>
  );
}

function NextLoss() {
  // The moment after which nothing is lost, once that is known.
  const [none, set] = useState<number | null>(null), [isLooking, look] = useState(false);
  const go = () => {
    const t = state.t.value;
    look(true);
    goToLoss(true).then((is) => set(is ? null : t), state.complain).finally(() => look(false));
  };
  const words = isLooking ? "Looking …" : none !== null && none === state.t.value ? "No more losses" : "Next loss";
  return <button type="button" title="Go to the next loss and explain it (L)" onClick={go} aria-busy={isLooking}>{words}</button>;
}

function Heading({ story }: { story: Story }) {
  const flow = story.flow === null ? "" : `, number ${story.seq} of flow ${story.flow}`;
  const lost = isLost(story);
  const cause = story.reason ? causeOf(story.reason) : null;
  return (
    <>
      <p class="about-packet">{story.class}{flow}, from {nodeAt(story.source)} to {nodeAt(story.destination)}</p>
      <p class={lost ? "fate lost" : "fate"}>
        {story.outcome === "delivered" && "✓ delivered"}
        {story.outcome === "held" && "… still in transit when the run ended"}
        {lost && <>{cause?.sign ?? "✕"} dropped{story.reason && <>: {reasonInWords(story.reason)} <code>{story.reason}</code></>}</>}
        {story.outcome === null && "its outcome was not recorded"}
      </p>
      {story.path && <p class="path">{story.path.text}</p>}
    </>
  );
}

/** The name of the node with an address, or the address. */
function nodeAt(address: string): string {
  const node = state.info.value?.addresses.indexOf(address) ?? -1;
  return node < 0 ? address : state.nameOf(node);
}

/** Milliseconds, or seconds of what takes long. */
const since = (s: number): string => (s < 1 ? `+${(s * 1e3).toFixed(3)} ms` : `+${s.toFixed(3)} s`);

function Steps({ story, at }: { story: Story; at: number }) {
  const [all, showAll] = useState(false);
  const list = useRef<HTMLOListElement>(null);
  const begin = story.steps[0]?.time_s ?? 0;
  const shown = all ? story.steps : story.steps.slice(0, MOST_LINES);
  // The line of the present stays in sight within the list; the page does not move.
  useEffect(() => {
    const box = list.current, line = box?.children[at] as HTMLElement | undefined;
    if (!box || !line) return;
    const top = line.getBoundingClientRect().top - box.getBoundingClientRect().top + box.scrollTop;
    if (top < box.scrollTop || top + line.offsetHeight > box.scrollTop + box.clientHeight) box.scrollTop = top - box.clientHeight / 3;
  }, [at, story]);
  return (
    <>
      <ol class="events tale scroll" ref={list} tabIndex={0} aria-label="What happened to the packet">
        {shown.map((s, i) => (
          <li key={i} class={`${s.what === "drop" ? "drop" : ""} ${i === at ? "now" : ""}`}>
            <button type="button" aria-current={i === at ? "step" : undefined}
              onClick={() => { state.playing.value = false; state.jump(Math.round(s.time_s * 1e9)); state.select(s.node); }}>
              <time title={showMoment(s.time_s * 1e9)}>{i === 0 ? showMoment(s.time_s * 1e9) : since(s.time_s - begin)}</time>{" "}
              <b>{state.nameOf(s.node)}</b> {s.what === "drop" ? "✕ " : ""}{s.text}
            </button>
            {s.at.length > 1 && (
              <ul class="receivers">
                {s.at.map((a, k) => <li key={k}>at {a.node === null ? "nobody" : state.nameOf(a.node)}: {a.text}</li>)}
              </ul>
            )}
          </li>
        ))}
      </ol>
      {shown.length < story.steps.length && <button type="button" onClick={() => showAll(true)}>Show all {story.steps.length} lines</button>}
      {story.more > 0 && <p class="note">{story.more} more steps are not shown; list them with <code>wayhop why RUN {story.packet}</code>.</p>}
      {!story.has_receptions && !ofHosts() && <p class="note">The outcome of its frames at the receivers was not recorded. Run again with <code>--receptions</code>.</p>}
    </>
  );
}

export function StoryPanel() {
  const number = state.packet.value;
  if (number === null) return <details open><summary>The story of a packet</summary><div class="packet-bar"><Search /><NextLoss /></div><p class="note">Click a loss on the map or an event in the list, or enter a packet.</p></details>;
  return (
    <details open class="story">
      <summary>Packet {number}</summary>
      <div class="packet-bar"><Search /><button type="button" onClick={() => { state.packet.value = null; }} aria-label="Close the story">Close</button><NextLoss /></div>
      {loading.value && stories.value.length === 0 && <p class="note" role="status">Reading the tables …</p>}
      {problem.value && <p class="wrong" role="alert">⚠ {problem.value}</p>}
      {stories.value.map((s, i) => (
        <section key={s.packet} aria-label={`Packet ${s.packet}`}>
          {stories.value.length > 1 && <h3>Packet {s.packet}</h3>}
          <Heading story={s} />
          <Steps story={s} at={current.value[i]} />
          <FramesPanel key={s.packet} run={s.run} packet={s.packet} />
        </section>
      ))}
    </details>
  );
}
