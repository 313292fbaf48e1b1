//! Answers that lie unread: where they may, and to which phase they belong.

use super::*;
use crate::driver::Attempt;
use crate::net::Ready;
use crate::plan::{Pacing, Quantum};
use crate::recorder::Lag;

/// Answers at once; what it has on its sockets is made up.
struct Sockets {
    notifier: Notifier,
    unread: Option<Lag>,
    unanswered: Option<usize>,
}

impl Sockets {
    fn new(unread: Option<Lag>, unanswered: Option<usize>) -> Self {
        let notifier = Notifier::new().expect("an eventfd");
        Self {
            notifier,
            unread,
            unanswered,
        }
    }
}

impl Session for Sockets {
    fn notifier(&self) -> &Notifier {
        &self.notifier
    }

    fn begin(&mut self, _: u32, _: Attempt, _: &mut Turn<'_>) -> Begun {
        Begun::Ended(Outcome::Ok)
    }

    fn give_up(&mut self, _: u32, _: &mut Reply) {}

    fn forget_all(&mut self) {}

    fn flush(&mut self, _: &mut Turn<'_>) {}

    fn ready(&mut self, _: Ready, _: &mut Turn<'_>) {}

    fn woken(&mut self, _: &mut Turn<'_>) {}

    fn look_after(&mut self, _: u64, _: &mut Turn<'_>) -> u64 {
        u64::MAX
    }

    fn take_lag(&mut self) -> Option<Lag> {
        self.unread.take()
    }

    fn unanswered(&self) -> Option<usize> {
        self.unanswered
    }
}

#[test]
fn what_lay_unread_between_phases_is_none_of_a_phase() {
    let (plan, mut unread) = (plan(), Lag::default());
    unread.record(SECOND);
    let session = Box::new(Sockets::new(Some(unread), Some(0)));
    let tools = tools(&plan);
    let event_loop = EventLoop::start(session, tools.generator.clone()).expect("a thread");
    let start_ns = monotonic_ns();
    let clients = event_loop.run(Parts {
        state: core(&plan, 1, start_ns),
        tools,
        cap: CLIENTS,
        pacer: Pacer::new(plan.pacing, start_ns),
        lingers: false,
        present: mpsc::channel(1).0,
    });
    let (state, facts) = clients.into_state().expect("all have ended");
    assert_eq!((state.ok, facts.lag), (OPERATIONS, None));
}

#[test]
fn answers_lie_unread_only_where_the_kernel_stamps_them_and_no_others_can_come() {
    let mut plan = plan();
    plan.phases[0].arrivals = Arrivals::Constant { rate: 10.0.into() };
    let pacing = Pacing {
        quantum_us: Quantum::Microseconds(100),
        ..Pacing::default()
    };
    let mut phase = Running::new(
        Parts {
            state: core(&plan, 1, 0),
            tools: tools(&plan),
            cap: CLIENTS,
            pacer: Pacer::new(pacing, 0),
            lingers: true,
            present: mpsc::channel(1).0,
        },
        channel().0,
    );
    assert!(phase.claim(0, &mut Vec::new()).is_some(), "one in flight");
    let sleeps = |unanswered| {
        let session = Sockets::new(None, unanswered);
        phase.sleeps_until(1, SECOND, &session).is_some()
    };
    assert_eq!([Some(1), Some(2), None].map(sleeps), [true, false, false]);
}
