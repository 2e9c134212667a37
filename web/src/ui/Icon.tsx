// Own drawings on a 24 × 24 grid, in the colour of the text around them.

const SHAPES = {
  arrow: "M5 12h14m-6-6 6 6-6 6",
  back: "M19 12H5m6 6-6-6 6-6",
  bulb: "M9 18h6m-5 3h4M12 3a6 6 0 0 0-3.6 10.8c.7.6 1.1 1.3 1.1 2.2h5c0-.9.4-1.6 1.1-2.2A6 6 0 0 0 12 3Z",
  chart: "M4 4v16h16M8 15l3.5-4.5 3 2.5L20 6",
  check: "m5 12.5 4.5 4.5L19 7.5",
  clock: "M12 7v5l3.5 2M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18Z",
  close: "m6 6 12 12M18 6 6 18",
  download: "M12 4v11m-5-4.5 5 4.5 5-4.5M4 20h16",
  empty: "M4 13h4l2 3h4l2-3h4M4 13v6h16v-6M4 13l3-8h10l3 8",
  eye: "M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12Zm9.5-3a3 3 0 1 0 0 6 3 3 0 0 0 0-6Z",
  flag: "M6 21V4m0 1h11l-2.5 4L17 13H6",
  flask: "M9.5 3h5m-4 0v6L5 18.6A1.6 1.6 0 0 0 6.4 21h11.2a1.6 1.6 0 0 0 1.4-2.4L13.5 9V3M7.5 15h9",
  gauge: "M4 18a9 9 0 1 1 16 0M12 14l4-5",
  gear: "M12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6Zm0-6v3m0 12v3M3 12h3m12 0h3M5.6 5.6l2.2 2.2m8.4 8.4 2.2 2.2m0-12.8-2.2 2.2m-8.4 8.4-2.2 2.2",
  hand: "M8 12V5.5a1.5 1.5 0 0 1 3 0V11m0-6.500a1.5 1.5 0 0 1 3 0V11m0-4.500a1.5 1.5 0 0 1 3 0V15a6 6 0 0 1-6 6c-3 0-4.3-1.5-5.6-4l-2-3.800a1.5 1.5 0 0 1 2.6-1.500L8 14",
  help: "M9.2 9a2.9 2.9 0 1 1 4.3 2.600c-.9.5-1.5 1-1.5 2.100m0 3v.1M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18Z",
  info: "M12 11v5.500m0-9v.1M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18Z",
  pause: "M8 5v14M16 5v14",
  pen: "M4 20l1-4.500L16 4.500l3.5 3.500L8.5 19 4 20Zm9.5-13 3.5 3.5",
  person: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8Zm-7.5 8.500c.8-3.5 3.8-5.5 7.5-5.500s6.7 2 7.5 5.5",
  play: "M8 5v14l11-7L8 5Z",
  plus: "M12 5v14M5 12h14",
  repeat: "M4 12a8 8 0 0 1 14-5.300L20 9m0-5v5h-5m5 3a8 8 0 0 1-14 5.300L4 15m0 5v-5h5",
  sort: "M12 19V5m-6 6 6-6 6 6",
  stop: "M6 6h12v12H6z",
  target: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18Zm0 5a4 4 0 1 0 0 8 4 4 0 0 0 0-8Z",
  trash: "M4 7h16M9 7V4h6v3m3 0-1 13H7L6 7m4 4v5m4-5v5",
  warning:
    "M12 9.500v4.500m0 3v.1M10.7 4.3 2.8 18a1.5 1.5 0 0 0 1.3 2.300h15.800a1.5 1.5 0 0 0 1.3-2.300L13.3 4.300a1.5 1.5 0 0 0-2.6 0Z",
} as const;

export type IconName = keyof typeof SHAPES;

/** Decorative: what it means is always said in words beside it or in a label. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg
      className="icon"
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.75"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={SHAPES[name]} />
    </svg>
  );
}
