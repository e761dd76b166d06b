package main

import (
	"strings"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/bench/report"
)

func TestOnce(t *testing.T) {
	t.Setenv("GOPHERWARP_DEVICE", "cpu")
	var out strings.Builder
	if err := once(&out, time.Now()); err != nil {
		t.Fatal(err)
	}
	p, err := parse(out.String())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(p.names, " "), "main open upload launch result"; got != want {
		t.Errorf("phases are %s, want %s", got, want)
	}
	for i := 1; i < len(p.at); i++ {
		if p.at[i] < p.at[i-1] {
			t.Errorf("%s comes at %v, before %s", p.names[i], p.at[i], p.names[i-1])
		}
	}
}

func TestMedians(t *testing.T) {
	all := []phases{}
	for _, line := range []string{"main 1 result 9", "main 3 result 7", "main 2 result 8"} {
		p, err := parse(line)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	if got, want := medians(all).String(), "main 2.000 result 8.000"; got != want {
		t.Errorf("medians are %s, want %s", got, want)
	}
	for _, line := range []string{"", "main 1", "result x"} {
		if _, err := parse(line); err == nil {
			t.Errorf("%q is parsed as phases", line)
		}
	}
}

func TestResult(t *testing.T) {
	r, err := report.ReadJSON(strings.NewReader(`{"results": [` + result(report.StartCached, 240, 200) + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	c := r.Case("start-cached")
	if c == nil || c.By(report.Ours).Seconds != 0.24 || c.By(report.Bare).Seconds != 0.2 {
		t.Errorf("the result is %+v", c)
	}
}
