// The scenes of the engine, to choose from.

import { useState } from "react";
import { useLocation } from "wouter";
import { api } from "../../api";
import { Button, Card, Empty, Skeleton, useToast } from "../../ui";
import type { SceneInfo } from "../../wire";
import { Loaded, useLoad } from "../load";
import { Page } from "../Page";
import { Picture } from "../Picture";
import "./lab.css";

/** A card for every scene. */
export function LabList() {
  const scenes = useLoad((signal) => api.scenes(signal), []);
  const [starting, setStarting] = useState<string | null>(null);
  const [, navigate] = useLocation();
  const tell = useToast();

  const run = async (scene: string) => {
    setStarting(scene);
    try {
      const operation = await api.startOperation({ kind: "lab", scene });
      navigate(`/lab/${operation.id}`);
    } catch (problem) {
      tell.error(problem);
      setStarting(null);
    }
  };

  return (
    <Page
      title="Lab"
      lead="Run any scene of the engine, look inside, change its constants while it runs, and pull on things."
    >
      <Loaded from={scenes} waiting={<Waiting />}>
        {(all) =>
          all.length === 0 ? (
            <Empty icon="flask" title="No scenes">
              <p>The server offers none. It takes them from its scenes folder.</p>
            </Empty>
          ) : (
            <ul className="scenes">
              {all.map((scene) => (
                <li key={scene.id}>
                  <SceneCard scene={scene} busy={starting !== null} onRun={() => run(scene.id)} />
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Page>
  );
}

function SceneCard({ scene, busy, onRun }: { scene: SceneInfo; busy: boolean; onRun(): void }) {
  const counts: [number, string][] = [
    [scene.tissues, scene.tissues === 1 ? "tissue" : "tissues"],
    [scene.nodes, "nodes"],
    [scene.elements, "elements"],
    [scene.instruments, scene.instruments === 1 ? "instrument" : "instruments"],
  ];
  return (
    <Card padded={false} className="scene-card">
      <Picture scene={scene.id} />
      <div className="body">
        <h2>{scene.name}</h2>
        {scene.about && <p className="soft small">{scene.about}</p>}
        <p className="counts faint small">
          {counts
            .filter(([count]) => count > 0)
            .map(([count, noun]) => `${count.toLocaleString("en-GB")} ${noun}`)
            .join(" · ")}
        </p>
        <Button icon="play" onClick={onRun} disabled={busy}>
          Run<span className="quietly"> {scene.name}</span>
        </Button>
      </div>
    </Card>
  );
}

function Waiting() {
  return (
    <div className="scenes">
      {["a", "b", "c"].map((key) => (
        <Skeleton key={key} height="20rem" />
      ))}
    </div>
  );
}
