package prim_test

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain raises the garbage collector's target, because the tests allocate much memory and keep
// little.
func TestMain(m *testing.M) {
	debug.SetGCPercent(1000)
	os.Exit(m.Run())
}
