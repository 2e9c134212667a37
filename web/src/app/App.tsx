import { Component, lazy, type ReactNode, Suspense, useEffect } from "react";
import { Route, Switch, useLocation, useSearch } from "wouter";
import { Button, LinkButton, Notice, Toasts } from "../ui";
import { About } from "./About";
import { Brief } from "./Brief";
import { Home } from "./Home";
import { hasNavigated, Page } from "./Page";
import { SessionOf } from "./session";
import { Watch } from "./Watch";

// Plots and the theatre are heavy: they come when they are needed.
const Debrief = lazy(() => import("./Debrief").then((module) => ({ default: module.Debrief })));
const Results = lazy(() => import("./Results").then((module) => ({ default: module.Results })));
const Operate = lazy(() => import("./operate/Operate"));
const Replay = lazy(() => import("./replay/Replay"));
const Lab = lazy(() => import("./lab/Lab"));

export function App() {
  const [location] = useLocation();
  const search = useSearch();
  // A clean-up: it runs when the address has changed, before the effects of the new page.
  useEffect(() => hasNavigated, [location]);

  return (
    <Toasts>
      <SessionOf>
        <Guard key={location}>
          <Suspense fallback={<Waiting />}>
            <Switch>
              <Route path="/" component={Home} />
              <Route path="/exercise/:id">{({ id }) => <Brief key={id} id={id} />}</Route>
              <Route path="/operate/:operation">
                {({ operation }) => <Operate key={operation} operation={operation} />}
              </Route>
              <Route path="/watch" component={Watch} />
              <Route path="/results" component={Results} />
              <Route path="/result/:id">{({ id }) => <Debrief key={id} id={Number(id)} />}</Route>
              <Route path="/replay/:operation">
                {({ operation }) => (
                  <Replay key={operation} operation={operation} result={resultOf(search)} />
                )}
              </Route>
              <Route path="/lab">
                <Lab operation={null} />
              </Route>
              <Route path="/lab/:operation">
                {({ operation }) => <Lab key={operation} operation={operation} />}
              </Route>
              <Route path="/about" component={About} />
              <Route component={NotFound} />
            </Switch>
          </Suspense>
        </Guard>
      </SessionOf>
    </Toasts>
  );
}

/** The result that a replay belongs to: `?result=12`. */
function resultOf(search: string): number | null {
  const result = Number(new URLSearchParams(search).get("result") ?? Number.NaN);
  return Number.isInteger(result) ? result : null;
}

function Waiting() {
  return (
    <div className="waiting" role="status">
      <span className="quietly">Loading …</span>
    </div>
  );
}

export function NotFound() {
  return (
    <Page title="There is no such page" lead="The address may be mistyped, or what it showed was deleted.">
      <LinkButton href="/" variant="primary" icon="back">
        Home
      </LinkButton>
    </Page>
  );
}

/** A page that fails takes only itself down, and says so. */
class Guard extends Component<{ children: ReactNode }, { problem: Error | null }> {
  override state: { problem: Error | null } = { problem: null };

  static getDerivedStateFromError(problem: unknown) {
    return { problem: problem instanceof Error ? problem : new Error(String(problem)) };
  }

  override render() {
    const { problem } = this.state;
    if (problem === null) {
      return this.props.children;
    }
    return (
      <Page title="Something went wrong on this page">
        <div className="stack">
          <p className="soft">
            Your results are safe: they are kept by the server. Reloading usually helps. If Trocar was updated
            a moment ago, reloading fetches the new page.
          </p>
          <Notice tone="bad">
            <p>
              <code>{problem.message}</code>
            </p>
          </Notice>
          <div className="row">
            <Button variant="primary" icon="repeat" onClick={() => window.location.reload()}>
              Reload
            </Button>
            <LinkButton href="/" variant="secondary">
              Home
            </LinkButton>
          </div>
        </div>
      </Page>
    );
  }
}
