// What of the inside is drawn over the picture.

import type { Views } from "../../theatre";
import { AXIS_COLOURS, ELEMENT_COLOURS, NODE_COLOURS, SPECTRUM, VIEW_COLOURS } from "../../theatre/inside";

interface Meaning {
  colour: string;
  means: string;
}

/** Least, middle and most of the false colours. */
function scale(...means: [string, string, string]): Meaning[] {
  return means.map((word, i) => ({ colour: SPECTRUM[2 * i], means: word }));
}

const VIEWS: { view: keyof Views; title: string; legend: Meaning[] }[] = [
  {
    view: "nodes",
    title: "Nodes",
    legend: [
      { colour: NODE_COLOURS.free, means: "free" },
      { colour: NODE_COLOURS.locked, means: "locked in some directions" },
      { colour: NODE_COLOURS.fixed, means: "fixed" },
      { colour: NODE_COLOURS.grasped, means: "held by the jaws" },
      { colour: NODE_COLOURS.follower, means: "follows others" },
      { colour: NODE_COLOURS.centre, means: "centre of a group" },
      { colour: NODE_COLOURS.inside, means: "inside, without a surface" },
      { colour: NODE_COLOURS.joined, means: "joined to something else" },
      { colour: NODE_COLOURS.pulled, means: "pulled or pushed" },
      { colour: NODE_COLOURS.marked, means: "marked for cutting" },
      { colour: NODE_COLOURS.leader, means: "leads others" },
      { colour: NODE_COLOURS.passive, means: "passed through by instruments" },
      { colour: NODE_COLOURS.clipped, means: "clipped" },
      { colour: NODE_COLOURS.cut, means: "on the lip of a cut" },
      { colour: NODE_COLOURS.coagulated, means: "coagulated" },
    ],
  },
  {
    view: "elements",
    title: "Elements",
    legend: [
      { colour: ELEMENT_COLOURS.tension, means: "pulled" },
      { colour: ELEMENT_COLOURS.slack, means: "at rest" },
      { colour: ELEMENT_COLOURS.compression, means: "pressed" },
      { colour: VIEW_COLOURS.torques, means: "turned: along the axis" },
    ],
  },
  {
    view: "contacts",
    title: "Contacts",
    legend: [
      { colour: VIEW_COLOURS.contacts, means: "point and normal" },
      { colour: VIEW_COLOURS.depths, means: "overlap, ten times as long" },
    ],
  },
  {
    view: "forces",
    title: "Forces",
    legend: [{ colour: VIEW_COLOURS.forces, means: "3 mm for each tenfold of 1 mN" }],
  },
  {
    view: "anchors",
    title: "Anchors",
    legend: [{ colour: VIEW_COLOURS.anchors, means: "ties, grips and the mouse’s pull" }],
  },
  {
    view: "frames",
    title: "Frames",
    legend: AXIS_COLOURS.map((colour, i) => ({ colour, means: ["x axis", "y axis", "z axis"][i] })),
  },
  {
    view: "normals",
    title: "Normals",
    legend: [{ colour: VIEW_COLOURS.normals, means: "outwards, 4 mm" }],
  },
  {
    view: "boxes",
    title: "Boxes",
    legend: [
      { colour: VIEW_COLOURS.boxes, means: "nothing near" },
      { colour: VIEW_COLOURS.near, means: "looked into" },
    ],
  },
  {
    view: "depths",
    title: "Depths",
    legend: [
      { colour: SPECTRUM[0], means: "contact that just touches" },
      { colour: SPECTRUM[2], means: "overlaps by half of the deepest" },
      { colour: SPECTRUM[4], means: "deepest overlap" },
      { colour: VIEW_COLOURS.grids, means: "from points of a distance grid to the surface" },
    ],
  },
  { view: "stress", title: "Stress", legend: scale("none", "half of it", "tears") },
  { view: "displacement", title: "Displacement", legend: scale("at rest", "half", "farthest") },
  { view: "adhesion", title: "Adhesion", legend: scale("has come off", "half", "sticks") },
  {
    view: "front",
    title: "Tears",
    legend: scale("whole", "comes off", "tip of a tear"),
  },
];

/** A switch for each view, and what its colours mean while it is on. */
export function ViewSwitches({ views, onChange }: { views: Views; onChange(views: Views): void }) {
  const shown = VIEWS.filter(({ view }) => views[view]);
  return (
    <>
      <ul className="views">
        {VIEWS.map(({ view, title }) => (
          <li key={view}>
            <label className="choice">
              <input
                type="checkbox"
                checked={views[view]}
                onChange={(event) => onChange({ ...views, [view]: event.target.checked })}
              />
              {title}
            </label>
          </li>
        ))}
      </ul>
      {shown.length > 0 && (
        <dl className="legend" aria-label="Legend">
          {shown.map(({ view, title, legend }) => (
            <div key={view}>
              <dt>{title}</dt>
              {legend.map(({ colour, means }) => (
                <dd key={means}>
                  <span className="swatch" style={{ background: colour }} aria-hidden="true" />
                  {means}
                </dd>
              ))}
            </div>
          ))}
        </dl>
      )}
    </>
  );
}
