package pass

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain lets garbage grow to some 40 MiB: the tests make much and keep little, and a fifth of their time was the
// collector's.
func TestMain(m *testing.M) {
	debug.SetGCPercent(1000)
	os.Exit(m.Run())
}
