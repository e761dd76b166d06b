package main

import (
	_ "embed"
	"strings"
	"testing"
)

//go:embed testdata/hello.txt
var lines string

func TestRun(t *testing.T) {
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
