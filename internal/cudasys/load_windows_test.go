package cudasys

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/dl"
	"github.com/gopherwarp/gopherwarp/internal/dl/stubdll"
)

// stub lets Windows load a driver that lacks one function, and returns the results of Load.
func stub(t *testing.T, missing string) (*Driver, error) {
	t.Helper()
	if runtime.GOARCH != "amd64" {
		t.Skip("the stub is for amd64")
	}
	code := map[string]stubdll.Code{}
	for _, f := range functions {
		code[f.symbol] = stubdll.Return(0)
	}
	code["cuDriverGetVersion"], code["cuDeviceGetCount"] = stubdll.Store(13000), stubdll.Return(int32(NoDevice))
	code["cuLaunchKernel"] = stubdll.Sum(7) // the sum of the function, the grid and the block
	delete(code, missing)
	folder, err := os.MkdirTemp("", "stub") // not t.TempDir: Windows does not remove a loaded library
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "nvcuda.dll")
	if err := os.WriteFile(path, stubdll.Image("nvcuda.dll", code), 0o600); err != nil {
		t.Fatal(err)
	}
	return loader{runtime.GOOS, func(...string) (string, lookup, error) {
		lib, err := dl.Open(path)
		if err != nil {
			return "", nil, err
		}
		return "nvcuda.dll", lib.Symbol, nil
	}}.load()
}

// TestStubDriver loads a stub of nvcuda.dll and calls it.
func TestStubDriver(t *testing.T) {
	d, err := stub(t, "")
	if err != nil {
		t.Fatal(err)
	}
	version, count := new(int32), new(int32)
	if s := d.Init(0); s != Success {
		t.Errorf("cuInit: %v", s)
	}
	if s := d.DriverGetVersion(version); s != Success || *version != 13000 {
		t.Errorf("cuDriverGetVersion: %v, %d", s, *version)
	}
	if s := d.DeviceGetCount(count); s != NoDevice {
		t.Errorf("cuDeviceGetCount: %v", s)
	}
	l := &Launch{Context: 1, Function: 100, Grid: [3]uint32{1, 2, 3}, Block: [3]uint32{4, 5, 6}}
	if s := d.LaunchKernel(l); s != 121 {
		t.Errorf("cuLaunchKernel's arguments have the sum %d, want 121", s)
	}
}

// TestOldStubDriver loads a stub that lacks a function.
func TestOldStubDriver(t *testing.T) {
	if _, err := stub(t, "cuGraphLaunch"); !errors.Is(err, ErrOldDriver) || !strings.Contains(err.Error(), "it lacks cuGraphLaunch") {
		t.Errorf("got %v", err)
	}
}
