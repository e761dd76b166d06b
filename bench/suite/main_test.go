package suite

import (
	"runtime/debug"
	"testing"

	"github.com/gopherwarp/gopherwarp/compile"
	"github.com/gopherwarp/gopherwarp/internal/ondemand"
)

// TestMain lets garbage grow to some tens of megabytes: the tests make much, launch by launch, and keep little.
func TestMain(m *testing.M) {
	debug.SetGCPercent(1000)
	ondemand.Main(m, compile.Options{})
}
