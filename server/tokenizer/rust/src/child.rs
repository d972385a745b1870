//! Work that may hang or take all memory, done in a child process with limits.
//!
//! A keeper, forked once and early, forks a child for each piece of work: it has one thread, so that
//! a child finds no lock held by another, and few pages, so that a fork takes little time. It ends
//! when the process that started it does. Signals that end a server pass both by: the server
//! finishes what it has begun.

use std::io::{self, Read};
use std::net::Shutdown;
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::{Mutex, PoisonError};

/// What a child may use of a processor, however long it waits for one.
pub const CPU_SECONDS: u64 = 1;
/// What a child may have beside what the keeper has, its stack included.
pub const MEMORY_MIB: u64 = 1024;
/// Ends a child that gets no processor.
const WAIT_SECONDS: u32 = 60;

/// Stands for the length of an answer where there is no child to make one.
const NO_CHILD: u64 = u64::MAX;

/// Makes an answer of a request, in the child.
pub type Work = fn(&[u8]) -> Vec<u8>;

struct Keeper {
    control: UnixStream,
    process: libc::pid_t,
}

static KEEPER: Mutex<Option<Keeper>> = Mutex::new(None);

/// Starts the keeper unless it is there. Before a process has threads and much memory is the time.
pub fn start(work: Work) -> io::Result<()> {
    let mut keeper = KEEPER.lock().unwrap_or_else(PoisonError::into_inner);
    if keeper.is_none() {
        *keeper = Some(fork_keeper(work)?);
    }
    Ok(())
}

/// What `work` makes of `request`; None when its process ended at a limit. All callers of one process
/// give the same `work`.
pub fn run(work: Work, request: &[u8]) -> io::Result<Option<Vec<u8>>> {
    let answer = ask(work, request)?;
    // The request may have gone to a keeper that was about to end.
    if answer.is_none() && keeper_has_ended() {
        return ask(work, request);
    }
    Ok(answer)
}

fn ask(work: Work, request: &[u8]) -> io::Result<Option<Vec<u8>>> {
    let (mut ours, theirs) = UnixStream::pair()?;
    hand_over(work, &theirs)?;
    drop(theirs);
    if send(&ours, request).is_err() {
        return Ok(None);
    }
    ours.shutdown(Shutdown::Write)?;
    let mut length = [0; 8];
    if ours.read_exact(&mut length).is_err() {
        return Ok(None);
    }
    let length = u64::from_le_bytes(length);
    if length == NO_CHILD {
        return Err(io::Error::other("the system gives no process"));
    }
    let mut answer = Vec::new();
    let whole = ours.read_to_end(&mut answer).is_ok();
    Ok(Some(answer).filter(|answer| whole && answer.len() as u64 == length))
}

fn keeper_has_ended() -> bool {
    let mut keeper = KEEPER.lock().unwrap_or_else(PoisonError::into_inner);
    let ended = keeper.as_ref().is_none_or(|keeper| {
        // SAFETY: a child of ours that nobody else waits for.
        unsafe { libc::waitpid(keeper.process, std::ptr::null_mut(), libc::WNOHANG) != 0 }
    });
    if ended {
        *keeper = None;
    }
    ended
}

/// A keeper that something has killed is replaced.
fn hand_over(work: Work, socket: &UnixStream) -> io::Result<()> {
    let mut keeper = KEEPER.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(living) = keeper.as_ref() {
        if send_descriptor(&living.control, socket.as_raw_fd()).is_ok() {
            return Ok(());
        }
        // SAFETY: a child of ours that nobody else waits for.
        unsafe { libc::waitpid(living.process, std::ptr::null_mut(), 0) };
        *keeper = None;
    }
    let new = keeper.insert(fork_keeper(work)?);
    send_descriptor(&new.control, socket.as_raw_fd())
}

fn fork_keeper(work: Work) -> io::Result<Keeper> {
    let (control, theirs) = UnixStream::pair()?;
    // SAFETY: the child calls what may be called after a fork of a process with threads: system
    // calls, and memory, whose locks the C library carries over a fork.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            let _ = catch_unwind(AssertUnwindSafe(|| keep(theirs.as_raw_fd(), work)));
            // SAFETY: ends the process without the handlers of the one that it was forked from.
            unsafe { libc::_exit(1) }
        }
        process => Ok(Keeper { control, process }),
    }
}

/// Forks a child for each socket that comes, until the process that sends them has ended.
fn keep(control: RawFd, work: Work) {
    const CONTROL: RawFd = 3;
    // SAFETY: the process is ours alone, and its descriptors are not used by anything else.
    unsafe {
        libc::dup2(control, CONTROL);
        libc::syscall(libc::SYS_close_range, CONTROL + 1, u32::MAX, 0);
        let nowhere = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR);
        for standard in 0..=2 {
            libc::dup2(nowhere, standard);
        }
        libc::close(nowhere);
        libc::prctl(libc::PR_SET_NAME, c"sinkd-templates".as_ptr());
        reset_signals();
        while let Some(socket) = receive_descriptor(CONTROL) {
            let socket = UnixStream::from_raw_fd(socket);
            match libc::fork() {
                -1 => drop(send(&socket, &NO_CHILD.to_le_bytes())),
                0 => {
                    libc::close(CONTROL);
                    let _ = catch_unwind(AssertUnwindSafe(|| serve(&socket, work)));
                    libc::_exit(0);
                }
                _ => {}
            }
        }
    }
}

/// Handlers of the process that was forked would run in children, which may die of anything.
unsafe fn reset_signals() {
    for signal in 1..=64 {
        libc::signal(signal, libc::SIG_DFL);
    }
    // The last one spares the keeper from waiting for its children.
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGPIPE, libc::SIGCHLD] {
        libc::signal(signal, libc::SIG_IGN);
    }
    let mut none: libc::sigset_t = std::mem::zeroed();
    libc::sigemptyset(&mut none);
    libc::sigprocmask(libc::SIG_SETMASK, &none, std::ptr::null_mut());
}

fn serve(mut socket: &UnixStream, work: Work) -> io::Result<()> {
    limit()?;
    let mut request = Vec::new();
    socket.read_to_end(&mut request)?;
    let answer = work(&request);
    send(socket, &(answer.len() as u64).to_le_bytes())?;
    send(socket, &answer)
}

fn limit() -> io::Result<()> {
    let pages = std::fs::read_to_string("/proc/self/statm")?;
    let pages = pages.split(' ').next().and_then(|count| count.parse::<u64>().ok());
    let set = |resource, value| {
        let limit = libc::rlimit { rlim_cur: value, rlim_max: value };
        // SAFETY: reads one struct.
        match unsafe { libc::setrlimit(resource, &limit) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    };
    // SAFETY: no preconditions.
    let page = unsafe {
        libc::alarm(WAIT_SECONDS);
        libc::sysconf(libc::_SC_PAGESIZE) as u64
    };
    let held = pages.ok_or(io::ErrorKind::InvalidData)? * page;
    set(libc::RLIMIT_CORE, 0)?;
    set(libc::RLIMIT_CPU, CPU_SECONDS)?;
    set(libc::RLIMIT_AS, held + (MEMORY_MIB << 20))
}

/// As write_all, but the other end may be gone without a signal.
fn send(socket: &UnixStream, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        // SAFETY: reads within `bytes`.
        let sent = unsafe {
            libc::send(socket.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), libc::MSG_NOSIGNAL)
        };
        match usize::try_from(sent) {
            Ok(sent) => bytes = &bytes[sent..],
            Err(_) if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return Err(io::Error::last_os_error()),
        }
    }
    Ok(())
}

/// Room for a control message with one descriptor, aligned as its header.
type Control = [u64; 4];

fn message(byte: &mut libc::iovec, control: &mut Control) -> libc::msghdr {
    // SAFETY: zeros are a valid msghdr.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = byte;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    // SAFETY: arithmetic.
    message.msg_controllen = unsafe { libc::CMSG_SPACE(size_of::<RawFd>() as u32) } as _;
    message
}

fn send_descriptor(control: &UnixStream, descriptor: RawFd) -> io::Result<()> {
    let (mut byte, mut space) = ([0_u8; 1], Control::default());
    let mut bytes = libc::iovec { iov_base: byte.as_mut_ptr().cast(), iov_len: 1 };
    let message = message(&mut bytes, &mut space);
    // SAFETY: `space` holds the header and the descriptor that are written into it.
    let sent = unsafe {
        let header = libc::CMSG_FIRSTHDR(&message);
        (*header).cmsg_level = libc::SOL_SOCKET;
        (*header).cmsg_type = libc::SCM_RIGHTS;
        (*header).cmsg_len = libc::CMSG_LEN(size_of::<RawFd>() as u32) as _;
        libc::CMSG_DATA(header).cast::<RawFd>().write_unaligned(descriptor);
        libc::sendmsg(control.as_raw_fd(), &message, libc::MSG_NOSIGNAL)
    };
    if sent < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// None at the end of the stream.
fn receive_descriptor(control: RawFd) -> Option<RawFd> {
    let (mut byte, mut space) = ([0_u8; 1], Control::default());
    let mut bytes = libc::iovec { iov_base: byte.as_mut_ptr().cast(), iov_len: 1 };
    let mut message = message(&mut bytes, &mut space);
    // SAFETY: the kernel writes within `space` and `byte`.
    unsafe {
        loop {
            match libc::recvmsg(control, &mut message, libc::MSG_CMSG_CLOEXEC) {
                1 => break,
                -1 if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
                _ => return None,
            }
        }
        let header = libc::CMSG_FIRSTHDR(&message);
        (!header.is_null()).then(|| libc::CMSG_DATA(header).cast::<RawFd>().read_unaligned())
    }
}
