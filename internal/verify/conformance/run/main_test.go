package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/control"
)

// TestRun runs one group.
func TestRun(t *testing.T) {
	t.Setenv("GOPHERWARP_DEVICE", "cpu")
	var out, messages strings.Builder
	if code := (command{&out, &messages, []conformance.Group{{Name: "control", Cases: control.Cases()}}}).run(t.Context(), nil); code != 0 {
		t.Fatalf("exit code %d: %s", code, messages.String())
	}
	if !regexp.MustCompile(`(?s)^on .*\ncontrol +\d\d+ behaviours\nok  \d\d+ behaviours in \S+\n$`).MatchString(out.String()) {
		t.Errorf("unexpected output:\n%s", out.String())
	}
}

// TestArguments selects the device by a flag, and makes mistakes.
func TestArguments(t *testing.T) {
	t.Setenv("GOPHERWARP_DEVICE", "none") // which the flag overrides
	for _, test := range []struct {
		args          []string
		code          int
		out, messages string
	}{
		{[]string{"-device=cpu"}, 0, "(cpu, ", ""},
		{[]string{"-device=interp"}, 0, "on PTX interpreter", ""},
		{nil, 1, "", `selftest: gopherwarp: GOPHERWARP_DEVICE is "none"`},
		{[]string{"-device=abacus"}, 2, "", "abacus"},
		{[]string{"cpu"}, 2, "", `unexpected argument "cpu"`},
		{[]string{"-help"}, 0, "", "-device"},
	} {
		var out, messages strings.Builder
		code := command{&out, &messages, nil}.run(t.Context(), test.args)
		if code != test.code || !strings.Contains(out.String(), test.out) || !strings.Contains(messages.String(), test.messages) {
			t.Errorf("%q: exit code %d, want %d; output %q, want %q; messages %q, want %q", test.args, code, test.code, out.String(), test.out, messages.String(), test.messages)
		}
	}
}

// TestWrong runs a case that fails and three that need another device.
func TestWrong(t *testing.T) {
	cases := []check.Case{
		{Name: "bad", Run: func(r *check.Run) { r.Wrong("1 is not %d", 2) }},
		{Name: "has no code", Run: func(r *check.Run) {
			r.Launch(fmt.Errorf("vulkan: sum: %w: it needs tensor cores", device.ErrNoVariant))
		}},
		{Name: "skipped", Run: func(r *check.Run) { r.Skip("only elsewhere") }},
		{Name: "skipped as well", Run: func(r *check.Run) { r.Skip("only elsewhere") }},
	}
	dev, err := cpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	err = run(t.Context(), &out, dev, []conformance.Group{{Name: "test", Cases: cases}})
	if err == nil || !strings.HasPrefix(err.Error(), "1 of 1 behaviours are wrong on ") {
		t.Errorf("run returned %v", err)
	}
	for _, want := range []string{"\nWRONG  test/bad: 1 is not 2\n", "\ntest        1 behaviours, 1 wrong, 3 skipped, which need another device\n",
		"\nskipped     2 behaviours: only elsewhere\nskipped     1 behaviours: it needs tensor cores\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, out.String())
		}
	}
}

// TestRemarks tests what a line says of behaviours that are not right.
func TestRemarks(t *testing.T) {
	all := tally{right: 1, wrong: 2}
	all.add(tally{right: 3, skipped: 4, excused: 5})
	want := ", 2 wrong, 4 skipped, which need another device, 5 skipped, which need subnormal numbers of float32"
	if got := all.remarks(); got != want || all.right != 4 {
		t.Errorf("%q of %d right ones, want %q of 4", got, all.right, want)
	}
}

// TestAwait waits for a case that takes 35 seconds.
func TestAwait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		done := make(chan int)
		go func() {
			time.Sleep(35 * time.Second)
			done <- 7
		}()
		var out strings.Builder
		if got := await(&out, "control/loop", done); got != 7 {
			t.Errorf("await returned %d, want 7", got)
		}
		if want := "SLOW   control/loop has run for 10s\nSLOW   control/loop has run for 30s\n"; out.String() != want {
			t.Errorf("await wrote %q, want %q", out.String(), want)
		}
	})
}
