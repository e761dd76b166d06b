package harness

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/driver"
)

//go:embed prelude.cu
var prelude string

// FindNVCC looks for CUDA's compiler in PATH and where its installer puts it. It returns the compiler's name, or "" if
// there is none.
func FindNVCC() string {
	for _, name := range []string{"nvcc", "/usr/local/cuda/bin/nvcc", "/opt/cuda/bin/nvcc"} {
		if found, err := exec.LookPath(name); err == nil {
			return found
		}
	}
	return ""
}

// Twins are a suite's kernels in CUDA C++, compiled for a device.
type Twins struct {
	how     string // the command that compiled them
	code    string // machine code or PTX
	target  device.Capability
	kernels map[string]*driver.Kernel
}

// CompileTwins compiles a suite's CUDA C++ for a device, which takes a few seconds. The error states why
// nothing is compared with CUDA C++.
func CompileTwins(ctx context.Context, source, nvcc string, i device.Info) (*Twins, error) {
	arch := fmt.Sprintf("-arch=sm_%d%d", i.Capability.Major, i.Capability.Minor)
	form := "-cubin"
	switch {
	case i.Kind == "interp": // which runs PTX
		form = "-ptx"
	case i.Kind != "cuda":
		return nil, errors.New("the device is no CUDA GPU")
	}
	if nvcc == "" {
		return nil, errors.New("there is no nvcc")
	}
	dir, err := os.MkdirTemp("", "gopherwarp-bench-")
	if err != nil {
		return nil, err
	}
	c := compilation{nvcc: nvcc, flags: []string{"-O3", arch, form}, dir: dir}
	code, err := c.run(ctx, source)
	if err := errors.Join(err, os.RemoveAll(dir)); err != nil {
		return nil, err
	}
	return &Twins{
		how: nvccVersion(ctx, nvcc) + " -O3 " + arch, code: code, target: i.Capability, kernels: map[string]*driver.Kernel{},
	}, nil
}

// compilation is a run of nvcc in a folder.
type compilation struct {
	nvcc  string
	flags []string
	dir   string
}

// run compiles the twins and returns what nvcc wrote.
func (c compilation) run(ctx context.Context, source string) (string, error) {
	from, to := filepath.Join(c.dir, "twins.cu"), filepath.Join(c.dir, "twins.out")
	if err := os.WriteFile(from, []byte(prelude+"#line 1 \"twins.cu\"\n"+source), 0o600); err != nil {
		return "", err
	}
	out, err := exec.CommandContext(ctx, c.nvcc, append(c.flags, "-o", to, from)...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("nvcc: %w: %s", err, bytes.TrimSpace(out))
	}
	code, err := os.ReadFile(to)
	return string(code), err
}

// nvccVersion returns "nvcc" and its version, if nvcc prints it.
func nvccVersion(ctx context.Context, nvcc string) string {
	out, _ := exec.CommandContext(ctx, nvcc, "--version").Output()
	_, rest, _ := strings.Cut(string(out), "release ")
	version, _, _ := strings.Cut(rest, ",")
	return strings.TrimSpace("nvcc " + version)
}

// kernel returns the twin of a launch. The driver takes machine code where it takes PTX.
func (t *Twins) kernel(l Launch) *driver.Kernel {
	k := t.kernels[l.Twin()]
	if k == nil {
		params, bytes := Layout(l.Args)
		k = &driver.Kernel{
			Name: l.Twin(), Package: "twins.cu", Params: params, ParamBytes: bytes,
			Variants: []driver.Variant{{Target: t.target, Exact: true, PTX: &driver.Text{Code: t.code}}},
		}
		t.kernels[l.Twin()] = k
	}
	return k
}

// call launches the twin of l.
func (t *Twins) call(s *device.Stream, l Launch) error { return l.on(s, t.kernel(l)) }
