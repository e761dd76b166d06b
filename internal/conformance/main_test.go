package conformance_test

import (
	"runtime/debug"
	"testing"

	"github.com/gopherwarp/gopherwarp/compile"
	"github.com/gopherwarp/gopherwarp/internal/ondemand"
)

// TestMain lets garbage grow: the cases make much and keep little, and what every device holds for them is small.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	ondemand.Main(m, compile.Options{})
}
