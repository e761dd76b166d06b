package gopherwarp

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gopherwarp/gopherwarp/cpu"
)

// choice is the device that a user asks for; the zero choice is the best one.
type choice struct {
	kind    string
	index   int  // of a CUDA device
	fast    bool // an interpreter that looks neither for races nor for unwritten memory
	traffic bool // an interpreter that writes a table of memory traffic
	threads cpu.Threads
}

// parse reads the value of GOPHERWARP_DEVICE.
func parse(s string) (choice, error) {
	kind, rest, more := strings.Cut(s, ":")
	c, ok := choice{kind: kind}, !more
	switch kind {
	case "":
	case "cpu":
		if more {
			c.threads, ok = threads[rest]
		}
	case "cuda":
		if more {
			i, err := strconv.ParseUint(rest, 10, 16)
			c.index, ok = int(i), err == nil
		}
	case "interp":
		if more {
			ok = c.interpreter(rest)
		}
	default:
		ok = false
	}
	if !ok {
		return choice{}, fmt.Errorf(`gopherwarp: %s is %q; it can be "cuda", "cuda:0" and so on, "cpu", "cpu:coroutines", `+
			`"cpu:goroutines", "interp", "interp:fast", "interp:traffic", or empty for the best device`, Variable, s)
	}
	return c, nil
}

// CheckDevice returns the error of Open for a value of GOPHERWARP_DEVICE that names no device, and nil for one that does, whether or
// not the machine has that device.
func CheckDevice(value string) error {
	_, err := parse(value)
	return err
}

// threads has the ways of the CPU to run threads by what stands behind "cpu:".
var threads = map[string]cpu.Threads{"coroutines": cpu.Coroutines, "goroutines": cpu.Goroutines}

// interpreter reads the words behind "interp:", and reports whether all are known.
func (c *choice) interpreter(words string) bool {
	for w := range strings.SplitSeq(words, ",") {
		switch w {
		case "fast":
			c.fast = true
		case "traffic":
			c.traffic = true
		default:
			return false
		}
	}
	return true
}
