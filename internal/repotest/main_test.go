package repotest

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain has what the tests compile collect as little garbage as the command has it.
func TestMain(m *testing.M) {
	debug.SetGCPercent(300)
	os.Exit(m.Run())
}
