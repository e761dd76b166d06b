package suite

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

//go:embed twins.cu
var twinsSource string

// FindNVCC returns the name of CUDA's compiler, from PATH or where its installer puts it, or "".
func FindNVCC() string {
	for _, name := range []string{"nvcc", "/usr/local/cuda/bin/nvcc", "/opt/cuda/bin/nvcc"} {
		if found, err := exec.LookPath(name); err == nil {
			return found
		}
	}
	return ""
}

// twins are the kernels of twins.cu, compiled for a GPU.
type twins struct {
	how     string // the command that compiled them
	cubin   string
	target  device.Capability
	kernels map[string]*driver.Kernel
}

// compileTwins compiles twins.cu for a device, which takes a few seconds. An error says why
// nothing is compared with CUDA C++.
func compileTwins(ctx context.Context, nvcc string, i device.Info) (*twins, error) {
	switch {
	case i.Kind != "cuda":
		return nil, errors.New("the device is no GPU")
	case nvcc == "":
		return nil, errors.New("there is no nvcc")
	}
	dir, err := os.MkdirTemp("", "gopherwarp-bench-")
	if err != nil {
		return nil, err
	}
	cubin, how, err := runNVCC(ctx, nvcc, dir, i.Capability)
	if err := errors.Join(err, os.RemoveAll(dir)); err != nil {
		return nil, err
	}
	return &twins{how: how, cubin: cubin, target: i.Capability, kernels: map[string]*driver.Kernel{}}, nil
}

// runNVCC compiles the twins in dir, and returns the machine code and the command, short.
func runNVCC(ctx context.Context, nvcc, dir string, c device.Capability) (cubin, how string, err error) {
	source, object := filepath.Join(dir, "twins.cu"), filepath.Join(dir, "twins.cubin")
	if err := os.WriteFile(source, []byte(twinsSource), 0o600); err != nil {
		return "", "", err
	}
	arch := fmt.Sprintf("-arch=sm_%d%d", c.Major, c.Minor)
	out, err := exec.CommandContext(ctx, nvcc, "-O3", arch, "-cubin", "-o", object, source).CombinedOutput()
	if err != nil {
		return "", "", fmt.Errorf("nvcc: %w: %s", err, bytes.TrimSpace(out))
	}
	code, err := os.ReadFile(object)
	return string(code), nvccVersion(ctx, nvcc) + " -O3 " + arch, err
}

// nvccVersion returns "nvcc" and its version, where it tells.
func nvccVersion(ctx context.Context, nvcc string) string {
	out, _ := exec.CommandContext(ctx, nvcc, "--version").Output()
	_, rest, _ := strings.Cut(string(out), "release ")
	version, _, _ := strings.Cut(rest, ",")
	return strings.TrimSpace("nvcc " + version)
}

// kernel returns the twin that a launch names. The driver takes machine code where it takes PTX.
func (t *twins) kernel(l launch) *driver.Kernel {
	k := t.kernels[l.name]
	if k == nil {
		params, bytes := layout(l.args)
		k = &driver.Kernel{
			Name: l.name, Package: "twins.cu", Params: params, ParamBytes: bytes,
			Variants: []driver.Variant{{Target: t.target, Exact: true, PTX: t.cubin}},
		}
		t.kernels[l.name] = k
	}
	return k
}

// call launches a twin.
func (t *twins) call(s *device.Stream, l launch) error { return l.on(s, t.kernel(l)) }
