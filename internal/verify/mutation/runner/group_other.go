//go:build !unix

package main

import "os/exec"

// isolate does nothing: process groups are a concept of Unix.
func isolate(*exec.Cmd) {}

// killAll kills the command itself. Programs that it started may remain.
func killAll(cmd *exec.Cmd) { cmd.Process.Kill() }
