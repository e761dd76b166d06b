package matmul_test

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain lets garbage grow: the interpreter makes much, and matrices of tests are small.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
