package peers

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// fake starts the framework in testdata with python3.
func fake(t *testing.T) *Peer {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	s := &Set{}
	if err := s.unpack(); err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("testdata/peer_fake.py")
	if err == nil {
		err = os.WriteFile(filepath.Join(s.dir, "peer_fake.py"), source, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	p, err := launch(t.Context(), "fake", exec.Command(python, filepath.Join(s.dir, "peer.py"), "fake"))
	if err != nil {
		t.Fatal(err)
	}
	s.Peers = []*Peer{p}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(s.dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the folder of the sources: %v", err)
		}
	})
	return p
}

func TestPeer(t *testing.T) {
	p, ctx := fake(t), t.Context()
	if p.About != "Fake 1.0" || !p.Has("sums") || p.Has("nothing") {
		t.Errorf("the peer is %q, with cases %q", p.About, p.cases)
	}
	var refusal *Refusal
	for name, want := range map[string]string{"wrong": "fake: RuntimeError: wrong result", "fails": "fake: ValueError: no case of 7"} {
		if err := p.Prepare(ctx, name, 7); !errors.As(err, &refusal) || err.Error() != want {
			t.Errorf("Prepare of %s returns %v, want %s", name, err, want)
		}
	}
	if err := p.Prepare(ctx, "sums", 1000); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if took, err := p.Round(ctx); took != 3*time.Millisecond || err != nil {
			t.Errorf("Round returns %v, %v, want 3ms", took, err)
		}
	}
	if err := p.End(ctx); err != nil {
		t.Error(err)
	}
	if _, err := p.Round(ctx); !errors.As(err, &refusal) {
		t.Errorf("a round of nothing returns %v", err)
	}
	const want = "fake: its process ended: Segmentation fault"
	if err := p.Prepare(ctx, "dies", 1); err == nil || errors.As(err, &refusal) || err.Error() != want {
		t.Errorf("Prepare of what ends the process returns %v, want %s", err, want)
	}
	if err := p.End(ctx); err == nil || err.Error() != want {
		t.Errorf("after that End returns %v, want %s", err, want)
	}
	if p.Has("sums") || p.Err() == nil {
		t.Error("a peer that has ended supports a case")
	}
}

// TestStart starts peers that are not installed.
func TestStart(t *testing.T) {
	s := Start(t.Context(), Options{Names: []string{"torch", CUB, "jax"}, Python: filepath.Join(t.TempDir(), "python")})
	defer s.Close()
	if len(s.Peers) != 0 || len(s.Missing) != 3 {
		t.Fatalf("peers %v; missing %v", s.Peers, s.Missing)
	}
	for i, want := range []string{"no such file", "nvcc was not found", "unknown peer"} {
		if !strings.Contains(s.Missing[i].Why, want) {
			t.Errorf("%s is missing: %s; want %s", s.Missing[i].Name, s.Missing[i].Why, want)
		}
	}
}

// TestSources checks that there is a script for each peer.
func TestSources(t *testing.T) {
	files, err := sources.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var have []string
	for _, f := range files {
		have = append(have, f.Name())
	}
	for _, name := range Names() {
		if want := "peer_" + name + ".py"; name != CUB && !slices.Contains(have, want) {
			t.Errorf("%s is missing in %q", want, have)
		}
	}
}

// TestFrameworks measures with the frameworks that are installed.
func TestFrameworks(t *testing.T) {
	if testing.Short() {
		t.Skip("frameworks take seconds to start")
	}
	s := Start(t.Context(), Options{Names: []string{"torch", "triton", "cupy", "numba"}})
	defer s.Close()
	for _, m := range s.Missing {
		t.Logf("%s: %s", m.Name, m.Why)
	}
	if len(s.Peers) == 0 {
		t.Skip("no framework is installed")
	}
	for _, p := range s.Peers {
		if err := p.Prepare(t.Context(), "add32", 1<<20); err != nil {
			t.Error(err)
			continue
		}
		if took, err := p.Round(t.Context()); took <= 0 || err != nil {
			t.Errorf("%s: %v, %v", p.Name, took, err)
		}
	}
}
