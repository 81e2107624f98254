// The words of a doc comment: what stands in backticks is code, and of a link its text stays.

export function Prose({ text }: { text: string | undefined }) {
  const plain = (text ?? "").replaceAll(/\[([^\]]+)\]\([^)]*\)/g, "$1");
  return <>{plain.split("`").map((part, i) => (i % 2 === 1 ? <code key={i}>{part}</code> : part))}</>;
}
