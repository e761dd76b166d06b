package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
)

// A server answers requests and ends when its context does.
func TestServe(t *testing.T) {
	t.Setenv("GOPHERWARP_DEVICE", "cpu")
	c := &serveCommand{modelSource: modelSource{Model: llamatest.Write(t, llamatest.Options{})}, Name: "tiny", Listen: "localhost:0", Requests: 4, Drain: time.Minute}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	r, w := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- errors.Join(c.Run(ctx, terminal{w, io.Discard}), w.Close()) }()
	line, err := bufio.NewReader(r).ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "serving tiny at ")
	if err != nil || !ok {
		t.Fatalf("the server prints %q, %v", line, err)
	}
	got, err := http.Post(url+"/chat/completions", "application/json", strings.NewReader(`{"max_tokens": 3, "messages": [{"role": "user", "content": "Hi"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(got.Body)
	if err = errors.Join(err, got.Body.Close()); err != nil || got.StatusCode != http.StatusOK || !strings.Contains(string(text), `"completion_tokens":3`) {
		t.Errorf("%v, %d: %s", err, got.StatusCode, text)
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("the server ends with %v", err)
	}
}

func TestServeFlags(t *testing.T) {
	for _, c := range []struct {
		command serveCommand
		want    string
	}{
		{serveCommand{Listen: ":8080", Requests: 1}, "which needs -key"},
		{serveCommand{Listen: "0.0.0.0:8080", Requests: 1}, "which needs -key"},
		{serveCommand{Listen: "localhost", Requests: 1}, "missing port"},
		{serveCommand{Listen: "localhost:1"}, "-requests must be positive"},
		{serveCommand{Listen: "localhost:1", Requests: 1, Drain: -1}, "-drain and -parallel must not be negative"},
		{serveCommand{Listen: "localhost:1", Requests: 1, Parallel: -1}, "must not be negative"},
		{serveCommand{modelSource: modelSource{Context: -1}, Listen: "localhost:1", Requests: 1}, "-context must not be negative"},
		{serveCommand{Listen: ":8080", Requests: 1, Key: []string{"x"}}, ""},
		{serveCommand{Listen: "[::1]:8080", Requests: 1}, ""},
	} {
		err := c.command.check()
		if c.want == "" && err == nil {
			continue
		}
		if e, ok := errors.AsType[exit](err); !ok || e.code != exitUsage || !strings.Contains(err.Error(), c.want) || c.want == "" {
			t.Errorf("%+v: %v, want %q", c.command, err, c.want)
		}
	}
}

func TestServedName(t *testing.T) {
	for path, want := range map[string]string{"a/b.Q4_1.gguf": "b.Q4_1", "a/folder/": "folder"} {
		if got := (&serveCommand{modelSource: modelSource{Model: path}}).name(); got != want {
			t.Errorf("the name of %s is %q, want %q", path, got, want)
		}
	}
}
