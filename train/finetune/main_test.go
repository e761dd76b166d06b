package finetune_test

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain collects garbage less often: a training of the tests uses a few megabytes, and most of what it allocates is garbage.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
