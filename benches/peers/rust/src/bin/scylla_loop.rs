//! The scylla crate in its simplest loop: one thread, one connection, a future for each operation in flight.

use scylla::client::PoolSize;
use scylla::client::execution_profile::ExecutionProfile;
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use scylla::statement::Consistency;
use scylla::statement::prepared::PreparedStatement;
use std::cell::{Cell, RefCell};
use std::num::NonZeroUsize;
use std::rc::Rc;
use std::time::Instant;
use steelyard_peers::{Failure, Meter, Task};
use tokio::task::LocalSet;

struct Bench {
    task: Task,
    session: Session,
    statement: PreparedStatement,
    value: String,
    number: Cell<u64>,
    meter: RefCell<Meter>,
}

async fn caller(bench: Rc<Bench>) -> Result<(), String> {
    loop {
        let number = bench.number.replace(bench.number.get() + 1);
        let sent = Instant::now();
        bench
            .once(number)
            .await
            .map_err(|error| error.to_string())?;
        if !bench.meter.borrow_mut().done(sent, Instant::now()) {
            return Ok(());
        }
    }
}

impl Bench {
    async fn once(&self, number: u64) -> Result<(), Failure> {
        let key = self.task.key(number);
        if self.task.writes {
            let values = (key, self.value.as_str());
            self.session
                .execute_unpaged(&self.statement, values)
                .await?;
            return Ok(());
        }
        let answer = self
            .session
            .execute_unpaged(&self.statement, (key,))
            .await?;
        let rows = answer.into_rows_result()?;
        let (value,) = rows.single_row::<(&str,)>()?;
        if value.len() == self.task.value_bytes {
            Ok(())
        } else {
            Err(format!("a value of {} bytes", value.len()).into())
        }
    }
}

async fn run(task: Task) -> Result<(), Failure> {
    let profile = ExecutionProfile::builder()
        .consistency(Consistency::One)
        .build();
    let session = SessionBuilder::new()
        .known_node_addr(task.node)
        .pool_size(PoolSize::PerHost(NonZeroUsize::MIN))
        .default_execution_profile_handle(profile.into_handle())
        .build()
        .await?;
    let bench = Rc::new(Bench {
        statement: session.prepare(task.statement()).await?,
        value: task.value(),
        number: Cell::new(0),
        meter: RefCell::new(Meter::new(&task)),
        session,
        task,
    });
    let callers: Vec<_> = (0..bench.task.in_flight)
        .map(|_| tokio::task::spawn_local(caller(Rc::clone(&bench))))
        .collect();
    for caller in callers {
        caller.await??;
    }
    println!("{}", bench.meter.borrow().report()?);
    Ok(())
}

fn main() -> Result<(), Failure> {
    let task = Task::from_arguments()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    LocalSet::new().block_on(&runtime, run(task))
}
