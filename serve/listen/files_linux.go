package listen

import (
	"net"
	"syscall"
)

// mostReserved is the largest number of files for which reserve makes room. The table then has 8 MB.
const mostReserved = 1 << 20

// reserve makes room for n more files in the process's table of files. The kernel doubles a table that is full, and a process with several
// threads then waits for all cores in the kernel (synchronize_rcu in expand_fdtable), which takes 5 to 16 ms. Hundreds of connections at
// once would be delayed by several of these pauses. A file with a large number, which is closed at once, enlarges the table a single time;
// tables do not shrink. Without room, connections are only slower, so errors are ignored.
func reserve(l net.Listener, n int) {
	of, ok := l.(syscall.Conn)
	if !ok {
		return
	}
	raw, err := of.SyscallConn()
	var limit syscall.Rlimit
	if err != nil || syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil || limit.Cur == 0 {
		return
	}
	n = int(min(uint64(n), limit.Cur-1, mostReserved))
	_ = raw.Control(func(fd uintptr) {
		if copied, _, failed := syscall.Syscall(syscall.SYS_FCNTL, fd, syscall.F_DUPFD_CLOEXEC, uintptr(n)); failed == 0 {
			_ = syscall.Close(int(copied))
		}
	})
}
