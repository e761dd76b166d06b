//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// isolate makes the command the leader of a process group.
func isolate(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killAll kills the process group of a command: tests start programs that a mutation may keep from ending.
func killAll(cmd *exec.Cmd) {
	syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // an error means that the group has ended
}
