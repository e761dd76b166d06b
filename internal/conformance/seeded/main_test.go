package seeded

import (
	"testing"

	"github.com/gopherwarp/gopherwarp/compile"
	"github.com/gopherwarp/gopherwarp/internal/ondemand"
)

func TestMain(m *testing.M) { ondemand.Main(m, compile.Options{}) }
