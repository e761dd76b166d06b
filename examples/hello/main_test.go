package main

import (
	_ "embed"
	"strings"
	"testing"
)

//go:embed testdata/hello.txt
var lines string

// devices are the best device of this machine and the interpreter.
var devices = [...]string{"", "interp"}

func TestRun(t *testing.T) {
	for _, name := range devices {
		t.Setenv("GOPHERWARP_DEVICE", name)
		var out strings.Builder
		if err := run(&out); err != nil {
			t.Fatal(err)
		}
		device, got, _ := strings.Cut(out.String(), "\n")
		if !strings.HasPrefix(device, "device: ") {
			t.Errorf("first line %q does not name the device", device)
		}
		if got != lines {
			t.Errorf("the threads printed\n%swant\n%s", got, lines)
		}
	}
}
