// Encoded pictures as a WebM file: Matroska (RFC 9559) in EBML (RFC 8794), one track of video.

export interface Coded { data: Uint8Array; time_ms: number; isKey: boolean }
export interface Film { codec: string; width: number; height: number; fps: number; pictures: Coded[] }

type Part = Uint8Array | Part[];

const text = (of: string) => new TextEncoder().encode(of);

/** A whole number without leading zeros, at least one byte. */
function whole(value: number): Uint8Array {
  const bytes: number[] = [];
  for (let v = value; v > 0 || bytes.length === 0; v = Math.floor(v / 256)) bytes.unshift(v % 256);
  return Uint8Array.from(bytes);
}

function double(value: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setFloat64(0, value);
  return bytes;
}

const length = (part: Part): number => (part instanceof Uint8Array ? part.length : part.reduce((sum, p) => sum + length(p), 0));

/** An element: its ID, its size in eight bytes, its content. */
function element(id: number, ...content: Part[]): Part {
  const size = new Uint8Array(8);
  new DataView(size.buffer).setBigUint64(0, BigInt(length(content)));
  size[0] = 1;
  return [whole(id), size, content];
}

function block(of: Coded, clusterMs: number): Part {
  const head = new Uint8Array(4);
  head[0] = 0x81;
  new DataView(head.buffer).setInt16(1, of.time_ms - clusterMs);
  head[3] = of.isKey ? 0x80 : 0;
  return element(0xa3, head, of.data);
}

function flat(part: Part, into: Uint8Array[]): Uint8Array[] {
  if (part instanceof Uint8Array) into.push(part); else for (const p of part) flat(p, into);
  return into;
}

/** The file, in parts. A cluster begins at each key picture; one has to come every 30 s at least. */
export function webm(film: Film): Uint8Array[] {
  const head = element(0x1a45dfa3, element(0x4286, whole(1)), element(0x42f7, whole(1)), element(0x42f2, whole(4)), element(0x42f3, whole(8)),
    element(0x4282, text("webm")), element(0x4287, whole(4)), element(0x4285, whole(2)));
  const end = (film.pictures.at(-1)?.time_ms ?? 0) + 1000 / film.fps;
  const info = element(0x1549a966, element(0x2ad7b1, whole(1_000_000)), element(0x4489, double(end)), element(0x4d80, text("wayhop")), element(0x5741, text("wayhop")));
  const track = element(0x1654ae6b, element(0xae, element(0xd7, whole(1)), element(0x73c5, whole(1)), element(0x83, whole(1)), element(0x86, text(film.codec)),
    element(0x23e383, whole(Math.round(1e9 / film.fps))), element(0xe0, element(0xb0, whole(film.width)), element(0xba, whole(film.height)))));
  const clusters: Coded[][] = [];
  for (const picture of film.pictures) { if (picture.isKey || clusters.length === 0) clusters.push([picture]); else clusters.at(-1)!.push(picture); }
  const cluster = (of: Coded[]) => element(0x1f43b675, element(0xe7, whole(of[0].time_ms)), ...of.map((p) => block(p, of[0].time_ms)));
  return flat([head, element(0x18538067, info, track, ...clusters.map(cluster))], []);
}
