package conformance_test

import (
	"os"
	"runtime/debug"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/verify/ondemand"
)

// TestMain lets garbage grow: the cases make much and keep little, and what every device holds for them is small.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(ondemand.Main(m))
}
