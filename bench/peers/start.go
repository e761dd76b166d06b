package peers

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
)

//go:embed *.py cub.cu
var sources embed.FS

// Names returns the names of all peers.
func Names() []string { return []string{"torch", "triton", "cupy", "numba", CUB} }

// CUB is the name of the peer that is a program in CUDA C++.
const CUB = "CUB"

// Options configures Start.
type Options struct {
	Names  []string // some of Names; nil means all
	Python string   // the Python interpreter; "" means python3
	NVCC   string   // CUDA's compiler; if it is empty, CUB is missing
}

// Missing is a peer that could not be started.
type Missing struct{ Name, Why string }

// Set contains the peers of a run.
type Set struct {
	Peers   []*Peer
	Missing []Missing
	dir     string
}

// Start starts peers in parallel, and waits until each has reported its cases: some seconds for the
// Python frameworks, half a minute for CUB, which must be compiled. The field Missing of the result
// lists the peers that are not installed.
func Start(ctx context.Context, o Options) *Set {
	names := o.Names
	if names == nil {
		names = Names()
	}
	s := &Set{}
	if err := s.unpack(); err != nil {
		for _, name := range names {
			s.Missing = append(s.Missing, Missing{name, err.Error()})
		}
		return s
	}
	found, errs := make([]*Peer, len(names)), make([]error, len(names))
	var all sync.WaitGroup
	for i, name := range names {
		all.Go(func() { found[i], errs[i] = s.start(ctx, name, o) })
	}
	all.Wait()
	for i, p := range found {
		if errs[i] != nil {
			s.Missing = append(s.Missing, Missing{names[i], why(errs[i])})
			continue
		}
		s.Peers = append(s.Peers, p)
	}
	return s
}

// unpack writes the sources to a folder.
func (s *Set) unpack() (err error) {
	if s.dir, err = os.MkdirTemp("", "gopherwarp-peers-"); err != nil {
		return err
	}
	return os.CopyFS(s.dir, sources)
}

// start starts one peer.
func (s *Set) start(ctx context.Context, name string, o Options) (*Peer, error) {
	switch {
	case !slices.Contains(Names(), name):
		return nil, fmt.Errorf("unknown peer; the peers are %q", Names())
	case name == CUB:
		return s.startCUB(ctx, o.NVCC)
	}
	python := o.Python
	if python == "" {
		python = "python3"
	}
	found, err := exec.LookPath(python)
	if err != nil {
		return nil, err
	}
	return launch(ctx, name, exec.CommandContext(ctx, found, filepath.Join(s.dir, "peer.py"), name))
}

// startCUB compiles CUB's program with nvcc for the GPU of this machine, and starts it.
func (s *Set) startCUB(ctx context.Context, nvcc string) (*Peer, error) {
	if nvcc == "" {
		return nil, errors.New("nvcc was not found")
	}
	program := filepath.Join(s.dir, "cub")
	out, err := exec.CommandContext(ctx, nvcc, "-O3", "-arch=native", "-o", program, program+".cu").CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("nvcc: %w: %s", err, bytes.TrimSpace(out))
	}
	return launch(ctx, CUB, exec.CommandContext(ctx, program))
}

// why returns the text of an error, without the name of the peer that refused.
func why(err error) string {
	var r *Refusal
	if errors.As(err, &r) {
		return r.Why
	}
	return err.Error()
}

// Close ends all processes.
func (s *Set) Close() error {
	var errs []error
	for _, p := range s.Peers {
		errs = append(errs, p.Close())
	}
	if s.dir != "" {
		errs = append(errs, os.RemoveAll(s.dir))
	}
	return errors.Join(errs...)
}
