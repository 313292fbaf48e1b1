use super::*;
use crate::rpc::{Pool, PoolConfig};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::time::Duration;

fn pool() -> Pool {
    Pool::new(PoolConfig {
        user: "test".to_owned(),
        connections: 1,
        connect_timeout: Duration::from_secs(1),
    })
}

fn server(pool: &Pool, number: u8) -> Arc<Endpoint> {
    pool.server(&Address::new("server", 1 + u16::from(number)))
}

/// Keys of the model are numbers: 0 is the empty key, at either end.
fn bytes(key: u8) -> Vec<u8> {
    if key == 0 { Vec::new() } else { vec![key] }
}

fn region(start: u8, end: u8) -> Region {
    Region {
        name: format!("t,{start},{end}.0123.").into_bytes(),
        start: bytes(start),
        end: bytes(end),
        ..Region::meta()
    }
}

/// What a table goes through, as far as a cache can learn of it.
#[derive(Debug, Clone)]
enum Event {
    /// The table's regions are cut anew at this key (a split), or joined there (a merge); the cache is not told.
    Split(u8),
    Merge(u8),
    /// Somebody looks this row up in meta.
    Learn(u8, u8),
    /// A call found that the row is not where the cache says.
    Forget(u8),
    /// ... and where it is instead.
    Moved(u8, u8),
    ServerGone(u8),
}

fn event() -> impl Strategy<Value = Event> {
    let (key, server) = (1_u8..40, 0_u8..3);
    prop_oneof![
        key.clone().prop_map(Event::Split),
        key.clone().prop_map(Event::Merge),
        (0_u8..40, server.clone()).prop_map(|(row, server)| Event::Learn(row, server)),
        key.clone().prop_map(Event::Forget),
        (key, server.clone()).prop_map(|(row, server)| Event::Moved(row, server)),
        server.prop_map(Event::ServerGone),
    ]
}

/// The region that holds `row` when the table is cut at `cuts`.
fn region_of(cuts: &BTreeSet<u8>, row: u8) -> (u8, u8) {
    let start = cuts.range(..=row).next_back().copied().unwrap_or(0);
    let end = cuts.range(row + 1..).next().copied().unwrap_or(0);
    (start, end)
}

fn is_in((start, end): (u8, u8), row: u8) -> bool {
    start <= row && (end == 0 || row < end)
}

/// The plainest cache: for each row what was learnt of it last: its region and server. Learning takes every row away from the
/// regions that overlap, as a whole.
type Model = BTreeMap<u8, ((u8, u8), u8)>;

fn model_learn(model: &mut Model, region: (u8, u8), server: u8) {
    let overlapped: BTreeSet<_> = model
        .iter()
        .filter(|(row, _)| is_in(region, **row))
        .map(|(_, (r, _))| *r)
        .collect();
    model.retain(|_, (known, _)| !overlapped.contains(known));
    model.extend(
        (0..=40)
            .filter(|row| is_in(region, *row))
            .map(|row| (row, (region, server))),
    );
}

proptest! {
    #[test]
    fn answers_as_the_model_does(events in vec(event(), 0..60)) {
        let pool = pool();
        let (mut cache, mut model, mut cuts) = (RegionCache::default(), Model::new(), BTreeSet::new());
        for event in events {
            match event {
                Event::Split(key) => drop(cuts.insert(key)),
                Event::Merge(key) => drop(cuts.remove(&key)),
                Event::Learn(row, at) => {
                    let (start, end) = region_of(&cuts, row);
                    cache.learn(region(start, end), server(&pool, at));
                    model_learn(&mut model, (start, end), at);
                }
                Event::Forget(row) => {
                    let known = cache.find(&bytes(row)).cloned();
                    if let Some(known) = known {
                        cache.forget(&known);
                        let gone = model[&row].0;
                        model.retain(|_, (region, _)| *region != gone);
                    }
                }
                Event::Moved(row, at) => {
                    let known = cache.find(&bytes(row)).cloned();
                    if let Some(known) = known {
                        cache.moved(&known, server(&pool, at));
                        let region = model[&row].0;
                        model_learn(&mut model, region, at);
                    }
                }
                Event::ServerGone(at) => {
                    cache.forget_server(&server(&pool, at).address, cache.mark());
                    model.retain(|_, (_, server)| *server != at);
                }
            }
            for row in 0..=40 {
                let found = cache.find(&bytes(row)).map(|known| (known.region.clone(), known.server.address.clone()));
                let expected = model.get(&row).map(|((start, end), at)| (region(*start, *end), server(&pool, *at).address.clone()));
                prop_assert_eq!(found, expected, "row {}", row);
            }
            for row in 1..=40_u8 {
                let found = cache.before(&bytes(row)).map(|known| known.region.clone());
                let expected = model.get(&(row - 1)).map(|((start, end), _)| region(*start, *end));
                prop_assert_eq!(found, expected, "before {}", row);
            }
        }
    }
}

#[test]
fn the_last_region_is_before_the_end() {
    let (pool, mut cache) = (pool(), RegionCache::default());
    cache.learn(region(0, 9), server(&pool, 1));
    assert!(cache.before(b"").is_none(), "the last region is not known");
    cache.learn(region(9, 0), server(&pool, 1));
    assert_eq!(cache.before(b"").unwrap().region, region(9, 0));
}

#[test]
fn late_news_change_nothing() {
    let (pool, mut cache) = (pool(), RegionCache::default());
    let (old, new) = (server(&pool, 1), server(&pool, 2));
    let first = cache.learn(region(0, 9), old.clone());
    let mark = cache.mark();
    let second = cache.learn(region(0, 9), old.clone());
    cache.forget(&first);
    cache.moved(&first, new);
    cache.forget_server(&old.address, mark);
    assert!(Arc::ptr_eq(cache.find(b"").unwrap(), &second));
}

#[test]
fn names_have_their_hash_at_the_end() {
    let named = Region {
        name: b"t,a.b,1700000000000.0123456789abcdef0123456789abcdef.".to_vec(),
        ..Region::meta()
    };
    assert_eq!(named.encoded_name(), "0123456789abcdef0123456789abcdef");
}
