//go:build unix

package editor

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// stopTime is how long the signal may take to stop the process. The system ignores the signal if no shell could continue the process.
const stopTime = 200 * time.Millisecond

// stop stops the processes of this job, as a terminal that is not raw does, and returns when the shell has continued them.
func stop() {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	if syscall.Kill(0, syscall.SIGTSTP) != nil {
		return
	}
	select {
	case <-continued:
	case <-time.After(stopTime):
	}
}
