// When there is nothing to see: connecting, lost, or impossible.

import { useEffect, useState } from "react";
import { Button, LinkButton } from "../../ui";
import type { Stage } from "./useTheatre";

/** Says what is wrong with the connection, and what to do about it; nothing if all is well. */
export function Connection({ stage, home }: { stage: Stage; home: string }) {
  const { failure, lost, hello } = stage;
  if (failure) {
    return (
      <div className="blocked" role="alert">
        <h2>There is nothing to show</h2>
        <p>{failure}</p>
        <div className="choices">
          <Button variant="secondary" icon="repeat" onClick={stage.retry}>
            Try again
          </Button>
          <LinkButton variant="primary" href={home}>
            Back
          </LinkButton>
        </div>
      </div>
    );
  }
  if (lost) {
    return (
      <div className="banner bad" role="alert">
        <span>
          Connection lost{lost.reason ? `: ${lost.reason}` : ""}. <Countdown until={lost.again} />
        </span>
        <Button size="small" icon="repeat" onClick={stage.retry}>
          Try now
        </Button>
      </div>
    );
  }
  return hello ? null : (
    <p className="banner" role="status">
      Connecting …
    </p>
  );
}

function Countdown({ until }: { until: number }) {
  const [now, setNow] = useState(() => performance.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(performance.now()), 500);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.ceil((until - now) / 1000);
  // Read out once, not every second.
  return <span aria-hidden="true">{seconds > 0 ? `Trying again in ${seconds} s …` : "Trying again …"}</span>;
}
