package main

import (
	"bytes"
	"cmp"
	"context"
	"image"
	"image/png"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/chat"
	"github.com/gopherwarp/gopherwarp/classify"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/serve/gate"
	"github.com/gopherwarp/gopherwarp/serve/pictures"
	"github.com/gopherwarp/gopherwarp/serve/repository"
)

// parrot is a model that repeats the last message, a word at a time.
type parrot struct{}

func (p parrot) Chat(ctx context.Context, messages []chat.Message, r llm.Request) iter.Seq2[llm.Token, error] {
	return p.Generate(ctx, messages[len(messages)-1].Content, r)
}

func (parrot) Generate(_ context.Context, prompt string, r llm.Request) iter.Seq2[llm.Token, error] {
	return func(yield func(llm.Token, error) bool) {
		words := strings.SplitAfter(prompt, " ")
		*r.Usage = llm.Usage{Prompt: len(words), Generated: max(r.N, 1) * len(words)}
		for i, word := range words {
			for choice := range max(r.N, 1) {
				t := llm.Token{Choice: choice, Text: word}
				if i == len(words)-1 {
					t.Finish = llm.Ended
				}
				if !yield(t, nil) {
					return
				}
			}
		}
	}
}

// gray is a model for which all pictures are of one class.
type gray struct{}

func (gray) Classify(_ context.Context, _ int, list ...image.Image) ([][]classify.Class, error) {
	return slices.Repeat([][]classify.Class{{{Probability: 1, Name: "gray"}}}, len(list)), nil
}

func (gray) Classes() int { return 1 }

// serveParrot starts a server of a parrot.
func serveParrot(t *testing.T, name string, keys ...string) *httptest.Server {
	t.Helper()
	return serveModels(t, keys, func(m *models) { m.texts[name] = repository.Loaded[gate.Model](parrot{}) })
}

// serveModels starts a server of the models that a function adds.
func serveModels(t *testing.T, keys []string, add func(*models)) *httptest.Server {
	t.Helper()
	s := &server{serveCommand: &serveCommand{Key: keys}, models: newModels(repository.Options{})}
	add(&s.models)
	p, err := s.handle()
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(p.all)
	t.Cleanup(func() {
		h.Close()
		if err := p.close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// TestClients talks to a server with the clients of OpenAI and Anthropic.
func TestClients(t *testing.T) {
	python := cmp.Or(os.Getenv("GOPHERWARP_PYTHON"), "python3")
	if out, err := exec.Command(python, "-c", "import importlib.util, sys; sys.exit(not all(map(importlib.util.find_spec, ['openai', 'anthropic'])))").CombinedOutput(); err != nil {
		t.Skipf("%s cannot import openai and anthropic, which pip installs; GOPHERWARP_PYTHON names another Python: %v\n%s", python, err, out)
	}
	s := serveParrot(t, "m", "secret")
	out, err := exec.Command(python, filepath.Join("testdata", "clients.py"), s.URL, "secret").CombinedOutput()
	if err != nil {
		t.Fatalf("clients.py: %v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// TestPage opens the pages in a browser, in which they ask the server for its models and its state.
func TestPage(t *testing.T) {
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skipf("there is no browser: %v", err)
	}
	colors := func(m *models) { m.pictures["gray"] = repository.Loaded[pictures.Model](gray{}) }
	chat, upload := serveModels(t, nil, func(m *models) {
		colors(m) // which the chat must not offer
		m.texts["parrot"] = repository.Loaded[gate.Model](parrot{})
	}), serveModels(t, nil, colors)
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if answer, err := http.Post(upload.URL+"/classify", "image/png", bytes.NewReader(picture.Bytes())); err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("%+v, %v", answer, err)
		}
	}
	for url, list := range map[string][]string{
		chat.URL:                      {`<select id="model"><option>parrot</option></select>`, `<dd id="health" class="">ready</dd>`},
		chat.URL + "/page/state.html": {`<span id="health" class="">ready</span>`, "<tr><td>parrot</td>"},
		upload.URL:                    {`<span id="health" class="">ready</span>`, "<tr><td>gray</td><td>–</td><td>0</td><td>1.0</td>", " ms</td></tr></tbody>"},
	} {
		out, err := exec.Command(browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
			"--disable-component-update", "--disable-sync", "--user-data-dir="+t.TempDir(), "--timeout=20000", "--virtual-time-budget=1500", "--dump-dom", url).Output()
		if err != nil {
			t.Skipf("%s does not run: %v", browser, err)
		}
		for _, want := range list {
			if !strings.Contains(string(out), want) {
				t.Errorf("%s has no %s:\n%s", url, want, out)
			}
		}
	}
}
