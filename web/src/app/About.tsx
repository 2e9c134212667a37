import { api } from "../api";
import { Card } from "../ui";
import { useLoad } from "./load";
import { DISCLAIMER, Page } from "./Page";

export function About() {
  const health = useLoad((signal) => api.health(signal), []);
  return (
    <Page title="About Trocar" lead={DISCLAIMER}>
      <div className="prose">
        <Card>
          <h2>What this is</h2>
          <p>
            Trocar is an open surgical simulator. It computes, step by step, how soft tissue gives way,
            stretches and is held, and how instruments move through the opening in the abdominal wall. You
            operate; the server simulates; this page draws.
          </p>
        </Card>
        <Card>
          <h2>What it is not</h2>
          <p>
            It is not a validated assessment: nobody has shown that a score here predicts how somebody
            operates on people. It is not a medical device, and it must not be used to plan or decide
            treatment, or to certify anybody. Forces are called uncalibrated unless a scene names the
            measurements its tissue is based on.
          </p>
        </Card>
        <Card>
          <h2>What is kept about you</h2>
          <p>
            The name you gave, your results, and recordings of the moves of your instruments. They stay in the
            data folder of this server; nothing is sent anywhere else. Deleting a profile deletes all of it.
            Your settings and the chosen profile are remembered in this browser alone.
          </p>
        </Card>
        <Card>
          <h2>How scores are made</h2>
          <p>
            Every exercise says, before you start, which measures count, how each is computed, and how many
            points it can bring. The same recording always gives the same score.
          </p>
        </Card>
        <Card>
          <h2>Licences</h2>
          <p>
            Trocar is free software under the MIT licence or the Apache licence 2.0, as you like. This page is
            made with React, three.js, uPlot and wouter, which are under the MIT licence (wouter: Unlicense).
          </p>
          {health.state === "ready" && (
            <p className="faint small">
              Trocar {health.value.version}, protocol {health.value.protocol}.
            </p>
          )}
        </Card>
      </div>
    </Page>
  );
}
