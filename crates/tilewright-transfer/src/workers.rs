//! Threads that share work. The calling thread is one of them, so nothing depends on whether the system starts others.
//!
//! Laws: [`together`] runs each number once. [`first`] returns the result of the first piece that has one, for any
//! number of threads.

use std::{
    io,
    ops::Range,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    thread,
};

use rayon::{ThreadPool, ThreadPoolBuilder, prelude::*};
use tilewright_error::Error;
use tilewright_relayout::Plan;

/// Returns the number of cores of this machine, or 1 if the system does not tell.
///
/// ```
/// assert!(tilewright_transfer::cores() > 0);
/// ```
pub fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Calls `work` with each of the numbers below `threads`, each in a separate thread, 0 in this one, and returns the
/// results in order. This thread also runs the numbers for which the system starts no thread.
///
/// ```
/// assert_eq!(tilewright_transfer::together(3, |number| number * 2), [0, 2, 4]);
/// ```
pub fn together<T: Send>(threads: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    scoped(threads, || work(0), &work)
}

/// Calls `work` with each of the numbers below `threads`, each in a separate thread, and `own` in this one meanwhile. `own` receives
/// an error if the system does not start one of the threads. Returns its result after all threads have ended.
///
/// ```
/// use std::sync::mpsc::channel;
/// let (out, into) = channel();
/// let send = |number: usize| out.send(number * 2).unwrap();
/// let sum = tilewright_transfer::beside(3, send, |started| started.map(|()| into.iter().take(3).sum::<usize>()));
/// assert_eq!(sum.unwrap(), 6);
/// ```
pub fn beside<T>(
    threads: usize,
    work: impl Fn(usize) + Sync,
    own: impl FnOnce(io::Result<()>) -> T,
) -> T {
    let work = &work;
    thread::scope(|scope| {
        let start = |number| named(number).spawn_scoped(scope, move || work(number)).map(drop);
        own((0..threads).try_for_each(start))
    })
}

/// Returns the builder of the thread of a number.
fn named(number: usize) -> thread::Builder {
    thread::Builder::new().name(format!("tilewright-{number}"))
}

/// Runs [`together`] with other work for this thread, which need not be `Sync`.
fn scoped<T: Send>(
    threads: usize,
    own: impl FnOnce() -> T,
    work: &(impl Fn(usize) -> T + Sync),
) -> Vec<T> {
    thread::scope(|scope| {
        let start = |number| named(number).spawn_scoped(scope, move || work(number)).ok();
        let others: Vec<_> = (1..threads).map(start).collect();
        let own = (threads > 0).then(own);
        let rest = (1..).zip(others).map(|(number, thread)| match thread {
            Some(thread) => thread.join().unwrap_or_else(|cause| std::panic::resume_unwind(cause)),
            None => work(number),
        });
        own.into_iter().chain(rest).collect()
    })
}

/// Pieces of work that threads take one after another, each with its number.
#[must_use]
#[derive(Debug)]
pub struct Pieces<I>(Mutex<std::iter::Enumerate<I>>);

impl<I: Iterator> Pieces<I> {
    /// Returns pieces, none of which is taken yet.
    ///
    /// ```
    /// let pieces = tilewright_transfer::Pieces::new("ab".chars());
    /// assert_eq!((pieces.take(), pieces.take(), pieces.take()), (Some((0, 'a')), Some((1, 'b')), None));
    /// ```
    pub fn new(pieces: I) -> Pieces<I> {
        Pieces(Mutex::new(pieces.enumerate()))
    }

    /// Takes the next piece.
    ///
    /// ```
    /// assert_eq!(tilewright_transfer::Pieces::new(5..6).take(), Some((0, 5)));
    /// ```
    pub fn take(&self) -> Option<(u64, I::Item)> {
        let next = self.0.lock().unwrap_or_else(PoisonError::into_inner).next();
        next.map(|(number, piece)| (number as u64, piece))
    }
}

/// Searches pieces for the first that has a result or fails. Each of `threads` threads first calls `join`, and then
/// calls the returned function with pieces. This thread calls `between` before each of its pieces, which may end the
/// search.
///
/// # Errors
/// The error of the first piece that failed, if no earlier one has a result; or the error of `join` or `between`.
///
/// ```
/// use tilewright_transfer::first;
/// let odd = || Ok(|piece: &u32| Ok((piece % 2 == 1).then_some(*piece)));
/// let found: Result<_, ()> = first(4, [2, 4, 7, 6, 9].into_iter(), odd, &mut || Ok(()));
/// assert_eq!(found, Ok(Some(7)));
/// ```
pub fn first<P: Send, T: Send, E: Send, M>(
    threads: usize,
    pieces: impl Iterator<Item = P> + Send,
    join: impl Fn() -> Result<M, E> + Sync,
    between: &mut dyn FnMut() -> Result<(), E>,
) -> Result<Option<T>, E>
where
    M: FnMut(&P) -> Result<Option<T>, E>,
{
    let search = SharedSearch {
        pieces: Pieces::new(pieces),
        found: Mutex::new(None),
        last: AtomicU64::new(u64::MAX),
    };
    let own = || search.run(&join, between);
    scoped(threads.max(1), own, &|_| search.run(&join, &mut || Ok(())));
    let found = search.found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.map_or(Ok(None), |(_, found)| found.map(Some))
}

/// A search that threads share.
struct SharedSearch<I, T, E> {
    pieces: Pieces<I>,
    /// The result with the smallest number so far, with that number.
    found: Mutex<Option<(u64, Result<T, E>)>>,
    /// The number of the first piece that has a result so far; later pieces are skipped.
    last: AtomicU64,
}

impl<P, T, E, I: Iterator<Item = P>> SharedSearch<I, T, E> {
    fn run<M>(&self, join: &impl Fn() -> Result<M, E>, between: &mut dyn FnMut() -> Result<(), E>)
    where
        M: FnMut(&P) -> Result<Option<T>, E>,
    {
        let mut member = match join() {
            Ok(member) => member,
            Err(error) => return self.tell(0, Err(error)),
        };
        loop {
            if let Err(error) = between() {
                return self.tell(0, Err(error));
            }
            let Some((number, piece)) = self.pieces.take() else { return };
            if number > self.last.load(Relaxed) {
                return;
            }
            match member(&piece) {
                Ok(None) => {}
                Ok(Some(found)) => self.tell(number, Ok(found)),
                Err(error) => self.tell(number, Err(error)),
            }
        }
    }

    fn tell(&self, number: u64, found: Result<T, E>) {
        self.last.fetch_min(number, Relaxed);
        let mut held = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if held.as_ref().is_none_or(|(known, _)| number < *known) {
            *held = Some((number, found));
        }
    }
}

// Threads that share the work on one piece of data.

/// The least number of bytes that a thread makes.
const LEAST: usize = 64 << 10;

/// The most threads of a pool.
const MOST: usize = 1024;

/// The threads of a job that share each piece; the calling thread alone if there is one.
///
/// ```
/// let pool = tilewright_transfer::Pool::new(1);
/// assert_eq!(pool.threads(), 1);
/// ```
#[must_use]
#[derive(Debug)]
pub struct Pool {
    threads: usize,
    pool: Option<ThreadPool>,
}

impl Pool {
    /// Starts the threads. If the system does not start `threads` of them, there is one.
    ///
    /// ```
    /// assert!(tilewright_transfer::Pool::new(2).threads() <= 2);
    /// ```
    pub fn new(threads: usize) -> Pool {
        let pool = (threads != 1)
            .then(|| ThreadPoolBuilder::new().num_threads(threads.min(MOST)).build().ok())
            .flatten()
            .filter(|pool| pool.current_num_threads() > 1);
        let threads = pool.as_ref().map_or(1, ThreadPool::current_num_threads);
        Pool { threads, pool }
    }

    /// Returns the number of threads.
    ///
    /// ```
    /// assert_eq!(tilewright_transfer::Pool::new(1).threads(), 1);
    /// ```
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Calls [`Plan::run_range`] for parts of the range in all threads.
    ///
    /// # Errors
    /// Those of the plan.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Plan};
    /// let (rows, columns) = (TensorLayout::row_major(&[2, 3]).unwrap(), TensorLayout::col_major(&[2, 3]).unwrap());
    /// let plan = Plan::new(&rows, &columns, Elements::same(8), 0).unwrap();
    /// let mut out = [0; 4];
    /// tilewright_transfer::Pool::new(1).run_range(&plan, 2..6, &[1, 2, 3, 4, 5, 6], &mut out).unwrap();
    /// assert_eq!(out, [2, 5, 3, 6]);
    /// ```
    pub fn run_range(
        &self,
        plan: &Plan,
        range: Range<u64>,
        src: &[u8],
        out: &mut [u8],
    ) -> Result<(), Error> {
        let start = range.start;
        self.parts(out, |out, at| {
            let from = start + at;
            plan.run_range(from..from + out.len() as u64, src, out)
        })
    }

    /// Calls `work` for parts of `bytes` in all threads, each with the position of its first byte.
    ///
    /// # Errors
    /// One of those of `work`.
    ///
    /// ```
    /// let mut bytes = [0; 3];
    /// let read = |part: &mut [u8], at: u64| Ok::<(), ()>(part.fill(7 + at as u8));
    /// tilewright_transfer::Pool::new(1).parts(&mut bytes, read).unwrap();
    /// assert_eq!(bytes, [7, 7, 7]);
    /// ```
    pub fn parts<E: Send>(
        &self,
        bytes: &mut [u8],
        work: impl Fn(&mut [u8], u64) -> Result<(), E> + Sync,
    ) -> Result<(), E> {
        let Some(pool) = self.pool.as_ref().filter(|_| bytes.len() >= 2 * LEAST) else {
            return work(bytes, 0);
        };
        let each = bytes.len().div_ceil(pool.current_num_threads()).next_multiple_of(LEAST);
        let part = |(i, bytes): (usize, &mut [u8])| work(bytes, (i * each) as u64);
        pool.install(|| bytes.par_chunks_mut(each).enumerate().try_for_each(part))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_find_is_the_same_for_any_number_of_threads() {
        for threads in [0, 1, 2, 5] {
            for (odd, broken) in [(3, 90), (90, 3), (50, 51), (99, 99), (100, 100)] {
                let join = || {
                    Ok(move |piece: &u32| match *piece {
                        piece if piece == broken => Err(piece),
                        piece => Ok((piece >= odd).then_some(piece)),
                    })
                };
                let found = first(threads, 0..100, join, &mut || Ok(()));
                let expected = match odd.min(broken) {
                    100 => Ok(None),
                    piece if piece == broken => Err(piece),
                    piece => Ok(Some(piece)),
                };
                assert_eq!(found, expected, "{threads} {odd} {broken}");
            }
        }
    }

    #[test]
    fn a_search_ends_where_it_is_told_to() {
        let mut left = 3;
        let join = || Ok(|_: &u32| Ok(None::<()>));
        let found = first(1, 0..u32::MAX, join, &mut || {
            left -= 1;
            if left == 0 { Err("stopped") } else { Ok(()) }
        });
        assert_eq!(found, Err("stopped"));
        let none = first(2, 0..9, || Err::<fn(&u32) -> _, _>("no memory"), &mut || Ok(()));
        assert_eq!(none, Err::<Option<()>, _>("no memory"));
    }

    #[test]
    fn parts_cover_all_bytes_for_any_number_of_threads() {
        for (threads, len) in
            (1..5).flat_map(|threads| [0, 1, LEAST, 5 * LEAST + 3].map(|len| (threads, len)))
        {
            let mut bytes = vec![0; len];
            let count = |part: &mut [u8], at: u64| {
                let numbers = part.iter_mut().zip(at..);
                numbers.for_each(|(byte, at)| *byte += (at % 251) as u8 + 1);
                Ok::<(), ()>(())
            };
            Pool::new(threads).parts(&mut bytes, count).unwrap();
            assert!(bytes.iter().zip(0u64..).all(|(byte, at)| u64::from(*byte) == at % 251 + 1));
        }
    }
}
