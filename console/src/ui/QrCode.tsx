import { encode } from "uqr";

/** A text as a picture for the camera of a telephone: black on white in both themes, with the margin that the standard asks for, as cameras expect. */
export function QrCode({ of, label }: { of: string; label: string }) {
  const { size, data } = encode(of, { border: 4 });
  const squares = data.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : [])));
  return (
    <svg role="img" aria-label={label} viewBox={`0 0 ${size} ${size}`} width={220} height={220} shapeRendering="crispEdges">
      <path fill="#fff" d={`M0 0h${size}v${size}H0z`} />
      <path fill="#000" d={squares.join("")} />
    </svg>
  );
}
