package main

import (
	"bytes"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/gopherwarp/gopherwarp/model/bert/berttest"
)

// Without -pprof, there are no profiles. With it, they are at an address of their own, until the server ends.
func TestProfiles(t *testing.T) {
	c := &serveCommand{Model: []string{berttest.WriteFolder(t, berttest.Options{})}, Name: "e", Demand: true}
	_, public := start(t, c, false)
	check := func(url string, want int) string {
		t.Helper()
		status, text, _ := ask(t, url, "")
		if status != want {
			t.Errorf("%s: %d, want %d; %.200s", url, status, want, text)
		}
		return text
	}
	end, err := c.profile(t.Context(), terminal{io.Discard, io.Discard})
	if err != nil || end() != nil {
		t.Error(err)
	}
	check(public+"/debug/pprof/", http.StatusNotFound)

	var printed bytes.Buffer
	c.Profiles = "localhost:0"
	if end, err = c.profile(t.Context(), terminal{io.Discard, &printed}); err != nil {
		t.Fatal(err)
	}
	url := regexp.MustCompile(`http://\S+/debug/pprof/`).FindString(printed.String())
	if text := check(url, http.StatusOK); !strings.Contains(text, "goroutine") {
		t.Errorf("the list is %s", text)
	}
	for _, path := range []string{"heap", "profile?seconds=1"} {
		p, err := profile.ParseData([]byte(check(url+path, http.StatusOK)))
		if err != nil || p.CheckValid() != nil || len(p.SampleType) == 0 || path != "heap" && p.DurationNanos < 9e8 {
			t.Errorf("%s: %v, %v", path, p, err)
		}
	}
	check(url+"cmdline", http.StatusNotFound)
	foreign, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	foreign.Host = "evil.example"
	if a, err := http.DefaultClient.Do(foreign); err != nil || a.Body.Close() != nil || a.StatusCode != http.StatusForbidden {
		t.Errorf("a foreign page gets %+v, %v", a, err)
	}
	check(public+"/debug/pprof/", http.StatusNotFound)
	if err := end(); err != nil {
		t.Error(err)
	}
	if a, err := http.Get(url); err == nil {
		a.Body.Close()
		t.Error("profiles after the end")
	}
}
