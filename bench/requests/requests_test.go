package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/model/bert/berttest"
	"github.com/gopherwarp/gopherwarp/model/resnet"
	"github.com/gopherwarp/gopherwarp/model/resnet/resnettest"
)

// TestRun measures small models and reads the table: the loads, and refusals at the last one alone.
func TestRun(t *testing.T) {
	dev, err := cpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	for name, p := range map[string]plan{
		"texts":    {model: berttest.WriteFolder(t, berttest.Options{}), items: []int{1, 3}, words: 5},
		"pictures": {model: resnettest.Write(t, resnet.Config{Blocks: [4]int{1, 1, 1, 1}, Width: 8, Classes: 10}, 1), items: []int{1}, side: 20},
	} {
		p.users, p.span = 3, 100*time.Millisecond
		var out bytes.Buffer
		if err := run(t.Context(), &out, dev, p); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if len(lines) != 2+5*len(p.items) {
			t.Fatalf("%s: the table is\n%s", name, out.String())
		}
		for i, begin := range []string{"the model itself", "one client", "3 clients", "80 % of these", "300 % of these"} {
			if line := strings.TrimSpace(lines[2+i]); !strings.HasPrefix(line, begin+" ") || strings.Contains(line, "NaN") {
				t.Errorf("%s: a line is %q, want %s", name, line, begin)
			}
		}
	}
}

// TestQuantiles checks the times of a load.
func TestQuantiles(t *testing.T) {
	load := &tally{span: 2 * time.Second}
	for i := range 101 {
		load.answered = append(load.answered, time.Duration(i)*time.Millisecond)
	}
	load.refused = []time.Duration{time.Millisecond, 3 * time.Millisecond, 4 * time.Millisecond}
	if got, want := load.times(), "50.00\t50.00\t99.00"; got != want {
		t.Errorf("the times are %q, want %q", got, want)
	}
	if got, want := load.refusals(), "2\t3.00\t3.00"; got != want {
		t.Errorf("the refusals are %q, want %q", got, want)
	}
	if got := load.rate(); got != 50.5 {
		t.Errorf("the rate is %v", got)
	}
}

// TestNumbers checks what -items may be.
func TestNumbers(t *testing.T) {
	if list, err := numbers("1,16"); err != nil || len(list) != 2 || list[1] != 16 {
		t.Errorf("numbers are %v, %v", list, err)
	}
	for _, text := range []string{"", "0", "1,", "x"} {
		if _, err := numbers(text); err == nil {
			t.Errorf("%q has no error", text)
		}
	}
}
