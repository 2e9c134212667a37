// Who operates: choose, create, rename, delete.

import { type FormEvent, useState } from "react";
import { api } from "../api";
import { Badge, Button, Confirm, Dialog, Icon, TextField, useToast } from "../ui";
import type { Profile } from "../wire";
import { Loaded } from "./load";
import { useSession } from "./session";
import { count, moment } from "./words";

/** Long enough for any name, short enough for a line. */
export const LONGEST_NAME = 60;

export function ProfileDialog({ open, onClose }: { open: boolean; onClose(): void }) {
  return (
    <Dialog open={open} onClose={onClose} title="Who operates?">
      <ProfileList onChosen={onClose} />
    </Dialog>
  );
}

/** All profiles, to choose one, and a way to make another. */
export function ProfileList({ onChosen }: { onChosen?(): void }) {
  const { profiles, profile: current, choose } = useSession();
  const [renaming, setRenaming] = useState<number | null>(null);
  const [deleting, setDeleting] = useState<Profile | null>(null);

  return (
    <Loaded from={profiles}>
      {(all) => (
        <div className="stack">
          {all.length > 0 && (
            <ul className="profiles">
              {all.map((profile) => (
                <li key={profile.id}>
                  {renaming === profile.id ? (
                    <Rename profile={profile} onDone={() => setRenaming(null)} />
                  ) : (
                    <>
                      <button
                        type="button"
                        className="profile"
                        aria-pressed={profile.id === current?.id}
                        onClick={() => {
                          choose(profile.id);
                          onChosen?.();
                        }}
                      >
                        <Icon name="person" />
                        <span className="profile-name">{profile.name}</span>
                        <span className="faint small">
                          {profile.results === 0 ? "no results yet" : count(profile.results, "result")}
                          {profile.last !== null && `, last ${moment(profile.last)}`}
                        </span>
                        {profile.id === current?.id && (
                          <Badge tone="good" icon="check">
                            chosen
                          </Badge>
                        )}
                      </button>
                      <Button variant="quiet" bare icon="pen" onClick={() => setRenaming(profile.id)}>
                        {`Rename ${profile.name}`}
                      </Button>
                      <Button variant="quiet" bare icon="trash" onClick={() => setDeleting(profile)}>
                        {`Delete ${profile.name}`}
                      </Button>
                    </>
                  )}
                </li>
              ))}
            </ul>
          )}
          <NewProfile action="Add" onMade={onChosen} />
          <Delete profile={deleting} onDone={() => setDeleting(null)} />
        </div>
      )}
    </Loaded>
  );
}

/** A name, and a profile is made and chosen. */
export function NewProfile({
  action,
  onMade,
  large = false,
}: {
  action: string;
  onMade?(profile: Profile): void;
  large?: boolean;
}) {
  const { profiles, choose } = useSession();
  const [name, setName] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);

  async function submit(event: FormEvent) {
    event.preventDefault();
    if (name.trim() === "") {
      setProblem("Please type a name first.");
      return;
    }
    setBusy(true);
    try {
      const profile = await api.createProfile(name.trim());
      setName("");
      setProblem(null);
      choose(profile.id);
      profiles.reload();
      onMade?.(profile);
    } catch (failure) {
      setProblem(failure instanceof Error ? failure.message : String(failure));
    } finally {
      setBusy(false);
    }
  }

  return (
    <form className="new-profile" onSubmit={submit} noValidate>
      <TextField
        label={large ? "Your name" : "Somebody new"}
        hint="Any name you like. It stays on this server; there is no password."
        error={problem}
        value={name}
        maxLength={LONGEST_NAME}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => {
          setName(event.target.value);
          setProblem(null);
        }}
      />
      <Button
        type="submit"
        variant={large ? "primary" : "secondary"}
        disabled={busy}
        icon={large ? "arrow" : "plus"}
      >
        {action}
      </Button>
    </form>
  );
}

function Rename({ profile, onDone }: { profile: Profile; onDone(): void }) {
  const { profiles } = useSession();
  const [name, setName] = useState(profile.name);
  const [problem, setProblem] = useState<string | null>(null);

  async function submit(event: FormEvent) {
    event.preventDefault();
    if (name.trim() === "") {
      setProblem("A profile needs a name.");
      return;
    }
    try {
      await api.renameProfile(profile.id, name.trim());
      profiles.reload();
      onDone();
    } catch (failure) {
      setProblem(failure instanceof Error ? failure.message : String(failure));
    }
  }

  return (
    <form className="new-profile" onSubmit={submit} noValidate>
      <TextField
        label={`New name for ${profile.name}`}
        error={problem}
        value={name}
        maxLength={LONGEST_NAME}
        autoFocus
        autoComplete="off"
        onChange={(event) => setName(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") {
            // The dialog around it stays open.
            event.preventDefault();
            event.stopPropagation();
            onDone();
          }
        }}
      />
      <Button type="submit" variant="primary">
        Rename
      </Button>
      <Button variant="quiet" onClick={onDone}>
        Cancel
      </Button>
    </form>
  );
}

function Delete({ profile, onDone }: { profile: Profile | null; onDone(): void }) {
  const { profiles, profile: current, choose } = useSession();
  const [busy, setBusy] = useState(false);
  const tell = useToast();

  async function remove() {
    if (profile === null) {
      return;
    }
    setBusy(true);
    try {
      await api.deleteProfile(profile.id);
      if (current?.id === profile.id) {
        choose(null);
      }
      profiles.reload();
      tell(`${profile.name} was deleted.`);
    } catch (failure) {
      tell.error(failure);
    } finally {
      setBusy(false);
      onDone();
    }
  }

  return (
    <Confirm
      open={profile !== null}
      title={`Delete ${profile?.name ?? ""}?`}
      action={`Delete ${profile?.name ?? ""}`}
      busy={busy}
      onConfirm={remove}
      onClose={onDone}
    >
      <p>
        This deletes the profile
        {profile && profile.results > 0
          ? `, ${profile.results === 1 ? "its one result" : `all ${profile.results} results`}, and every recording that belongs to them`
          : ""}
        . It can't be undone.
      </p>
      {profile && profile.results > 0 && (
        <p className="soft">
          To keep the numbers, first{" "}
          <a href={`/api/profiles/${profile.id}/results.csv`} download="">
            download the results as CSV
          </a>
          .
        </p>
      )}
    </Confirm>
  );
}
