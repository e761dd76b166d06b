package cudasys

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/dl"
)

func TestStatusNames(t *testing.T) {
	for s, want := range map[Status]string{
		Success:              "CUDA_SUCCESS",
		OutOfMemory:          "CUDA_ERROR_OUT_OF_MEMORY",
		NoDevice:             "CUDA_ERROR_NO_DEVICE",
		InvalidPTX:           "CUDA_ERROR_INVALID_PTX",
		NotReady:             "CUDA_ERROR_NOT_READY",
		IllegalAddress:       "CUDA_ERROR_ILLEGAL_ADDRESS",
		SystemDriverMismatch: "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
		Unknown:              "CUDA_ERROR_UNKNOWN",
		4711:                 "CUDA_ERROR(4711)",
		-1:                   "CUDA_ERROR(-1)",
	} {
		if s.Error() != want {
			t.Errorf("status %d is %s, want %s", int32(s), s.Error(), want)
		}
	}
}

func TestStatusTable(t *testing.T) {
	form := regexp.MustCompile(`^CUDA_(SUCCESS|ERROR_[A-Z_]+)$`)
	seen := map[string]Status{}
	for s, name := range statusNames {
		if !form.MatchString(name) {
			t.Errorf("status %d has the name %q", int32(s), name)
		}
		if other, ok := seen[name]; ok {
			t.Errorf("%s is both %d and %d", name, int32(s), int32(other))
		}
		seen[name] = s
	}
}

func TestBindFillsEveryField(t *testing.T) {
	d, err := bind(func(string) (uintptr, error) { return 1, nil })
	if err != nil {
		t.Fatal(err)
	}
	for field, v := range reflect.ValueOf(d).Elem().Fields() {
		if v.Kind() == reflect.Func && v.IsNil() {
			t.Errorf("no row of the table binds %s", field.Name)
		}
	}
}

func TestSymbols(t *testing.T) {
	fields := reflect.TypeFor[Driver]()
	version := regexp.MustCompile(`_v\d$`)
	for _, f := range slices.Concat(functions, newer) {
		name := strings.TrimPrefix(version.ReplaceAllString(f.symbol, ""), "cu")
		if _, ok := fields.FieldByName(name); !ok {
			t.Errorf("%s has no field %s", f.symbol, name)
		}
	}
}

func TestMissingNewSymbol(t *testing.T) {
	d, err := bind(func(symbol string) (uintptr, error) {
		if symbol == "cuGraphAddDependencies_v2" {
			return 0, dl.ErrSymbol
		}
		return 1, nil
	})
	if err != nil || d.GraphAddDependencies != nil || d.GraphAddKernelNode == nil {
		t.Errorf("a driver for CUDA 12.0: %v", err)
	}
}

func TestMissingSymbol(t *testing.T) {
	for _, f := range functions {
		_, err := bind(func(symbol string) (uintptr, error) {
			if symbol == f.symbol {
				return 0, fmt.Errorf("libcuda.so.1: %w: %s", dl.ErrSymbol, symbol)
			}
			return 1, nil
		})
		want := "the NVIDIA driver is too old: it lacks " + f.symbol + ": libcuda.so.1: symbol missing: " + f.symbol
		if err == nil || err.Error() != want || !errors.Is(err, ErrOldDriver) || errors.Is(err, ErrNoDriver) {
			t.Errorf("without %s: %v", f.symbol, err)
		}
	}
}

func TestLoad(t *testing.T) {
	d, err := Load()
	switch {
	case errors.Is(err, ErrNoDriver):
		if names := LibraryNames(runtime.GOOS); len(names) > 0 && !strings.Contains(err.Error(), names[0]) {
			t.Errorf("%v does not name %s", err, names[0])
		}
		t.Skipf("no driver to load: %v", err)
	case err != nil:
		t.Fatal(err)
	}
	var version int32
	if s := d.DriverGetVersion(&version); s != Success || version < 11000 {
		t.Errorf("version %d, %v", version, s)
	}
}

// windows is a loader of Windows with an nvcuda.dll that lacks some functions, or without the
// library.
func windows(installed bool, missing ...string) loader {
	return loader{"windows", func(names ...string) (string, lookup, error) {
		if !installed || !slices.Contains(names, "nvcuda.dll") {
			return "", nil, fmt.Errorf("%w: %s: The specified module could not be found.", dl.ErrNotFound, strings.Join(names, "; "))
		}
		return "nvcuda.dll", func(symbol string) (uintptr, error) {
			if slices.Contains(missing, symbol) {
				return 0, fmt.Errorf("nvcuda.dll: %w: %s", dl.ErrSymbol, symbol)
			}
			return 1, nil
		}, nil
	}}
}

// TestLoadOnWindows loads an imitation of Windows' driver. The test cannot call its functions.
func TestLoadOnWindows(t *testing.T) {
	d, err := windows(true).load()
	if err != nil || d.Library != "nvcuda.dll" || d.LaunchKernel == nil || d.setCurrent != 1 {
		t.Errorf("got %+v, %v", d, err)
	}
	if _, err := windows(false).load(); !errors.Is(err, ErrNoDriver) || !strings.Contains(err.Error(), "nvcuda.dll") {
		t.Errorf("without the library: %v", err)
	}
	if _, err := windows(true, "cuGraphLaunch").load(); !errors.Is(err, ErrOldDriver) || !strings.Contains(err.Error(), "it lacks cuGraphLaunch") {
		t.Errorf("with an old one: %v", err)
	}
}
