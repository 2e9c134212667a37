//! One operation: what all its connections share.

use crate::{
    conductor::Shown,
    describe,
    desk::{Desk, Order},
    outlet::Outlet,
    wire::{Extent, OperationInfo, OperationKind, PROTOCOL, Role, SceneDescription, ServerMessage},
};
use axum::extract::ws::Utf8Bytes;
use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::sync::{OwnedSemaphorePermit, broadcast, watch};
use trocar_scene::{Simulation, Views};

/// What connections have to know of a simulation.
pub struct Set {
    /// Where wishes are left.
    pub desk: Arc<Desk>,
    /// The scene.
    pub scene: SceneDescription,
    /// What messages may name.
    pub extent: Extent,
}

impl Set {
    /// Of a simulation as it is now.
    pub fn of(simulation: &Simulation, about: &str, paused: bool) -> Self {
        let scene = describe::scene(simulation, about);
        Self {
            desk: Arc::new(Desk::new(simulation, paused)),
            extent: Extent {
                instruments: scene.instruments.len(),
                parameters: simulation.parameters().len(),
                endoscope: scene.endoscope.is_some(),
            },
            scene,
        }
    }
}

/// An operation that runs.
pub struct Operation {
    /// What does not change of what is told about it.
    pub info: OperationInfo,
    /// Whose exercise it is.
    pub profile: Option<i64>,
    /// What messages may name.
    pub extent: Extent,
    /// Where wishes are left.
    pub desk: Arc<Desk>,
    scene: SceneDescription,
    /// The newest frame.
    pub shown: watch::Receiver<Shown>,
    /// What happens.
    pub outlet: Outlet,
    /// Somebody holds the instruments.
    controlled: AtomicBool,
    /// What each connection wants to see of the inside.
    views: Mutex<BTreeMap<u64, Views>>,
    seats: AtomicU64,
    attendance: Mutex<Attendance>,
    farewell: OnceLock<&'static str>,
    /// It is one of the operations that a server may have.
    room: Mutex<Option<OwnedSemaphorePermit>>,
}

#[derive(Debug)]
struct Attendance {
    /// Nobody has been there since then.
    deserted: Instant,
    visited: bool,
}

impl Operation {
    /// An operation that has just begun.
    pub fn new(
        info: OperationInfo,
        profile: Option<i64>,
        set: Set,
        shown: watch::Receiver<Shown>,
        outlet: Outlet,
        room: OwnedSemaphorePermit,
    ) -> Self {
        Self {
            info,
            profile,
            scene: set.scene,
            extent: set.extent,
            desk: set.desk,
            shown,
            outlet,
            controlled: AtomicBool::new(false),
            views: Mutex::new(BTreeMap::new()),
            seats: AtomicU64::new(0),
            attendance: Mutex::new(Attendance {
                deserted: Instant::now(),
                visited: false,
            }),
            farewell: OnceLock::new(),
            room: Mutex::new(Some(room)),
        }
    }

    /// What it is, and who is there now.
    pub fn info(&self) -> OperationInfo {
        OperationInfo {
            watching: self.desk.watching() as u32,
            controlled: self.controlled.load(Ordering::Acquire),
            ..self.info.clone()
        }
    }

    /// False once its thread has ended.
    pub fn is_alive(&self) -> bool {
        self.shown.has_changed().is_ok()
    }

    /// Ends it. Whoever is there is told `farewell`.
    pub fn end(&self, farewell: &'static str) {
        let _ = self.farewell.set(farewell);
        self.desk.close();
    }

    /// Makes room for another operation.
    pub fn vacate(&self) {
        let mut room = self.room.lock().unwrap_or_else(PoisonError::into_inner);
        *room = None;
    }

    /// Why it has ended.
    pub fn farewell(&self) -> &'static str {
        self.farewell
            .get()
            .copied()
            .unwrap_or("the operation has ended by a fault of the program")
    }

    /// True if nobody has been there for `grace`; if nobody ever came, for twice as long.
    pub fn is_deserted(&self, grace: Duration) -> bool {
        if self.desk.watching() > 0 {
            return false;
        }
        let attendance = self.attendance();
        let longest = if attendance.visited { grace } else { 2 * grace };
        attendance.deserted.elapsed() >= longest
    }

    fn attendance(&self) -> std::sync::MutexGuard<'_, Attendance> {
        self.attendance
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn watch(&self, seat: u64, views: Option<Views>) {
        let mut all = self.views.lock().unwrap_or_else(PoisonError::into_inner);
        match views {
            Some(views) => all.insert(seat, views),
            None => all.remove(&seat),
        };
        let union = all.values().fold(Views::default(), |a, b| Views {
            nodes: a.nodes || b.nodes,
            elements: a.elements || b.elements,
            contacts: a.contacts || b.contacts,
            forces: a.forces || b.forces,
            anchors: a.anchors || b.anchors,
            frames: a.frames || b.frames,
            normals: a.normals || b.normals,
            boxes: a.boxes || b.boxes,
            depths: a.depths || b.depths,
            stress: a.stress || b.stress,
            displacement: a.displacement || b.displacement,
            adhesion: a.adhesion || b.adhesion,
            front: a.front || b.front,
        });
        self.desk.watch(union);
    }
}

/// A place of a connection: whoever comes while nobody holds the instruments takes them, unless it only wants to look
/// on. When that one leaves, no viewer is surprised with them: the next to come takes them.
pub struct Seat {
    /// Where.
    pub operation: Arc<Operation>,
    /// What this connection may do.
    pub role: Role,
    number: u64,
}

impl Seat {
    /// Takes a place; the instruments only if `operating`.
    pub fn take(operation: Arc<Operation>, operating: bool) -> Self {
        let controls = operating && !operation.controlled.swap(true, Ordering::AcqRel);
        if controls {
            operation.desk.change_hands();
        }
        operation.desk.enter();
        operation.attendance().visited = true;
        Self {
            role: if controls {
                Role::Controller
            } else {
                Role::Viewer
            },
            number: operation.seats.fetch_add(1, Ordering::Relaxed),
            operation,
        }
    }

    /// The first message, and the ones that follow. A run that is over is told once more.
    pub fn hello(&self) -> (Vec<Utf8Bytes>, broadcast::Receiver<Utf8Bytes>) {
        let (now, messages) = self.operation.outlet.enter();
        let hello = ServerMessage::Hello {
            protocol: PROTOCOL,
            role: self.role,
            operation: Box::new(self.operation.info()),
            scene: Box::new(self.operation.scene.clone()),
            parameters: now.parameters,
            bounds: now.bounds,
            flags: now.flags,
            task: now.task,
            replay: now.replay,
        };
        let first = [Some(hello), now.finished];
        let first = first.into_iter().flatten().map(|m| m.to_json().into());
        (first.collect(), messages)
    }

    /// Wants to see this of the inside.
    pub fn watch(&self, views: Views) {
        let wanted = (views != Views::default()).then_some(views);
        self.operation.watch(self.number, wanted);
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let operation = &self.operation;
        operation.watch(self.number, None);
        operation.attendance().deserted = Instant::now();
        if self.role == Role::Controller {
            operation.desk.order(Order::Drop);
            if operation.info.kind == OperationKind::Exercise {
                // Nobody's hand must not be scored.
                operation.desk.pause(true);
            }
            operation.controlled.store(false, Ordering::Release);
        }
        operation.desk.leave();
    }
}
