package matmul_test

import (
	"os"
	"runtime/debug"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/verify/ondemand"
)

// TestMain raises the garbage collector's target: the interpreter produces much garbage, and the
// matrices of tests are small.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(ondemand.InSweeps(m))
}
