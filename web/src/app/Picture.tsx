// A picture of a scene, drawn by the theatre itself.

import { useEffect, useState } from "react";
import { api } from "../api";
import { Icon, Skeleton } from "../ui";

/** Pictures are drawn once, this large, and shown smaller. */
const WIDTH = 960;
const HEIGHT = 600;

/** One drawing after the other: a page of cards must not fetch and draw ten scenes at once. */
let queue: Promise<unknown> = Promise.resolve();
const drawn = new Map<string, Promise<string>>();

function draw(scene: string): Promise<string> {
  let picture = drawn.get(scene);
  if (picture === undefined) {
    picture = queue.then(async () => {
      const [theatre, described] = await Promise.all([import("../theatre"), api.scene(scene)]);
      return theatre.picture(described, WIDTH, HEIGHT);
    });
    queue = picture.catch(() => {});
    // A failure is not remembered: the next visit tries again.
    picture.catch(() => drawn.delete(scene));
    drawn.set(scene, picture);
  }
  return picture;
}

/** Decorative: everything it shows is also said in words. */
export function Picture({ scene }: { scene: string }) {
  const [state, setState] = useState<{ scene: string; url: string | null } | null>(null);
  useEffect(() => {
    let here = true;
    draw(scene).then(
      (url) => here && setState({ scene, url }),
      () => here && setState({ scene, url: null }),
    );
    return () => {
      here = false;
    };
  }, [scene]);

  const ready = state?.scene === scene ? state : null;
  return (
    <div className="picture" data-state={ready ? (ready.url ? "ready" : "none") : "loading"}>
      {ready === null ? (
        <Skeleton height="100%" />
      ) : ready.url ? (
        <img src={ready.url} alt="" width={WIDTH} height={HEIGHT} />
      ) : (
        <Icon name="target" />
      )}
    </div>
  );
}
