// Frames: columns of numbers, as crates/tools/studio/src/frame.rs lays them out.

type Column = Float64Array | Int32Array | Uint8Array;

export interface Frame {
  head: Record<string, unknown> & { rows: number };
  columns: Record<string, Column>;
}

export function decode(octets: ArrayBuffer): Frame {
  const view = new DataView(octets);
  if (octets.byteLength < 8 || view.getUint32(0, false) !== 0x57485331) {
    throw new Error("The response is from another version: reload the page");
  }
  const body = 8 + view.getUint32(4, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(octets, 8, body - 8)));
  const columns: Record<string, Column> = {};
  for (const { name, type, offset } of head.columns) {
    const at = body + offset;
    if (type === "f64") columns[name] = new Float64Array(octets, at, head.rows);
    else if (type === "i32") columns[name] = new Int32Array(octets, at, head.rows);
    else if (type === "u8") columns[name] = new Uint8Array(octets, at, head.rows);
  }
  return { head, columns };
}
