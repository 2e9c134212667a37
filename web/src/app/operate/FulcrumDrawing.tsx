// Why the tip goes left when the hand goes right.

/** The lever at the port, drawn. */
export function FulcrumDrawing({ inverted }: { inverted: boolean }) {
  const explained = inverted
    ? "Drawing: outside the body the hand moves right; the shaft turns about the port in the skin; inside, the tip moves left."
    : "Drawing: the hand moves right and the tip in the picture moves right with it.";
  return (
    <figure className="fulcrum">
      <svg viewBox="0 0 240 150" role="img" aria-label={explained}>
        <path className="skin" d="M0 66 C 60 58 88 66 108 70 L108 82 C 80 76 50 72 0 80 Z" />
        <path className="skin" d="M240 66 C 180 58 152 66 132 70 L132 82 C 160 76 190 72 240 80 Z" />
        {inverted ? (
          <>
            <line className="ghost" x1="96" y1="18" x2="144" y2="134" />
            <line className="shaft" x1="146" y1="14" x2="92" y2="138" />
            <path className="motion" d="M100 14 H134 M126 8 L136 14 L126 20" />
            <path className="motion" d="M140 138 H106 M114 132 L104 138 L114 144" />
            <text x="152" y="20">
              hand → right
            </text>
            <text x="152" y="143">
              tip ← left
            </text>
          </>
        ) : (
          <>
            <line className="ghost" x1="120" y1="14" x2="96" y2="138" />
            <line className="shaft" x1="120" y1="14" x2="144" y2="138" />
            <path className="motion" d="M96 22 H130 M122 16 L132 22 L122 28" />
            <path className="motion" d="M98 132 H134 M126 126 L136 132 L126 138" />
            <text x="146" y="28">
              hand → right
            </text>
            <text x="156" y="137">
              tip → right
            </text>
          </>
        )}
        <circle className="port" cx="120" cy="75" r="9" />
        <text x="10" y="52">
          outside
        </text>
        <text x="10" y="100">
          inside
        </text>
      </svg>
      <figcaption>
        {inverted
          ? "The hand moves right, the tip moves left, as through a real port. Up and down are crossed too. It feels odd at first and soon does not."
          : "The lever is switched off: the tip follows the hand. Switch it on in the settings to train as through a real port."}
      </figcaption>
    </figure>
  );
}
