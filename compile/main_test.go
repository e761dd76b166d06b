package compile_test

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain has builds collect as little garbage as the command has them.
func TestMain(m *testing.M) {
	debug.SetGCPercent(300)
	os.Exit(m.Run())
}
