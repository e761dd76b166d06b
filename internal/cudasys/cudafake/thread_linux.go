package cudafake

import "syscall"

// thread identifies the calling thread.
func thread() int { return syscall.Gettid() }
