//! Keeps the results of one operation, beside the simulation's thread, which must not wait for a disk.

use crate::{outlet::Outlet, recorder, wire::ServerMessage};
use std::time::Duration;
use tokio::{sync::mpsc, time::timeout};
use trocar_train::{Performance, Records, records::NewResult};

/// How long the end of a recording is waited for. It is only late if the disk hangs.
const PATIENCE: Duration = Duration::from_secs(20);

/// What is to be done to the records, in the order in which it happens.
pub enum Deed {
    /// A run has begun.
    Begin {
        /// As which result.
        result: NewResult,
        /// Told whether there is one, so that there is never a recording without.
        permission: Option<recorder::Permission>,
    },
    /// A run has ended.
    Complete(Box<Completed>),
    /// Nothing was done in a run that began.
    Discard {
        /// Of its recording.
        recording: Option<recorder::Outcome>,
    },
}

/// A run that has ended.
pub struct Completed {
    /// What came out.
    pub performance: Performance,
    /// Simulated seconds per second.
    pub realtime: f64,
    /// Of its recording.
    pub recording: Option<recorder::Outcome>,
    /// Which run the pages are to be told about; none if they have gone on already.
    pub tell: Option<u32>,
}

/// Does all deeds until there are no more.
pub async fn work(records: Records, outlet: Outlet, mut deeds: mpsc::UnboundedReceiver<Deed>) {
    let mut current: Result<i64, String> = Err("no run has begun".into());
    while let Some(deed) = deeds.recv().await {
        match deed {
            Deed::Begin { result, permission } => {
                current = records.begin(&result).await.map_err(|e| e.to_string());
                if let Err(problem) = &current {
                    tracing::error!("a result can't be kept: {problem}");
                }
                if let Some(permission) = permission {
                    // It fails only if the recording has already ended.
                    let _ = permission.send(current.is_ok());
                }
            }
            Deed::Complete(completed) => {
                let begun = std::mem::replace(&mut current, Err("no run has begun".into()));
                let tell = completed.tell;
                let finished = complete(&records, begun, *completed).await;
                if let Some(run) = tell {
                    outlet.finish(run, finished);
                }
            }
            Deed::Discard { recording } => {
                // The file must be there before it can be taken away.
                if let Some(recording) = recording {
                    let _ = timeout(PATIENCE, recording).await;
                }
                let begun = std::mem::replace(&mut current, Err("no run has begun".into()));
                if let Ok(id) = begun
                    && let Err(error) = records.delete_result(id).await
                {
                    tracing::warn!("an empty result can't be taken back: {error}");
                }
            }
        }
    }
}

/// Keeps a result, and gives what the pages are to be told.
async fn complete(
    records: &Records,
    begun: Result<i64, String>,
    completed: Completed,
) -> ServerMessage {
    let Completed {
        performance,
        realtime,
        recording,
        ..
    } = completed;
    let mut problem = match recording {
        None => None,
        Some(outcome) => match timeout(PATIENCE, outcome).await {
            Ok(Ok(Ok(()))) => None,
            Ok(Ok(Err(problem))) => Some(format!("The recording is not complete: {problem}")),
            Ok(Err(_)) => Some("The recording is not complete.".into()),
            Err(_) => Some("The recording is not complete: the disk does not answer.".into()),
        },
    };
    let result = match begun {
        Err(why) => {
            problem = Some(format!("The result could not be kept: {why}"));
            None
        }
        Ok(id) => match records.complete(id, &performance, realtime).await {
            Ok(()) => Some(id),
            Err(error) => {
                problem = Some(format!("The result could not be kept: {error}"));
                None
            }
        },
    };
    if let Some(problem) = &problem {
        tracing::error!("{problem}");
    }
    ServerMessage::Finished {
        result,
        score: performance.score,
        passed: performance.passed,
        problem,
    }
}
