package toolkit

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/dl"
)

var blas = Library{
	Name: "cuBLAS", Unix: []string{"libcublas.so.13", "libcublas.so.12"}, Windows: []string{"cublas64_13.dll"},
	Wheels: []string{"cublas", "cu13"}, Get: "to install it: pip install nvidia-cublas",
}

// opened is the last name that a fake loader received.
type opened struct{ name string }

// fake is a Linux machine with files and an environment. The files whose value is false do not
// load.
func fake(files map[string]bool, env map[string]string, last *opened) machine {
	return machine{
		os:     "linux",
		getenv: func(name string) string { return env[name] },
		glob: func(pattern string) (paths []string) {
			for path := range files {
				if ok, err := filepath.Match(pattern, path); ok && err == nil {
					paths = append(paths, path)
				}
			}
			return paths
		},
		real: func(path string) string {
			if path == "/venv/bin/python3" {
				return "/usr/local/python/bin/python3.12"
			}
			return ""
		},
		open: func(name string) (*dl.Library, error) {
			if good, ok := files[name]; !ok {
				return nil, fmt.Errorf("%s: cannot open shared object file", name)
			} else if !good {
				return nil, fmt.Errorf("%s: wrong ELF class", name)
			}
			last.name = name
			return new(dl.Library), nil
		},
	}
}

func TestOpenFindsTheBest(t *testing.T) {
	const (
		loader  = "libcublas.so.12"
		home    = "/opt/toolkit/lib64/libcublas.so.12"
		usual   = "/usr/local/cuda/lib64/libcublas.so.13"
		older   = "/usr/local/cuda-12.4/lib64/libcublas.so.12"
		newer   = "/usr/local/cuda-12.8/lib64/libcublas.so.12"
		active  = "/venv/lib/python3.12/site-packages/nvidia/cublas/lib/libcublas.so.12"
		linked  = "/usr/local/python/lib/python3.12/site-packages/nvidia/cu13/lib/libcublas.so.13"
		own     = "/gopher/.local/lib/python3.11/site-packages/nvidia/cublas/lib/libcublas.so.12"
		systems = "/usr/lib/python3/dist-packages/nvidia/cublas/lib/libcublas.so.12"
	)
	env := map[string]string{"CUDA_HOME": "/opt/toolkit", "PATH": "/nowhere:/venv/bin", "HOME": "/gopher"}
	best := []string{loader, home, usual, newer, older, active, linked, own, systems}
	for i, want := range best {
		files := map[string]bool{}
		for _, path := range best[i:] {
			files[path] = true
		}
		var last opened
		if _, err := fake(files, env, &last).find(blas); err != nil || last.name != want {
			t.Errorf("with %v: opened %s, %v, want %s", best[i:], last.name, err, want)
		}
	}
}

func TestNotFound(t *testing.T) {
	files := map[string]bool{"/usr/local/cuda/lib64/libcublas.so.12": false}
	_, err := fake(files, map[string]string{"VIRTUAL_ENV": "/venv"}, new(opened)).find(blas)
	if !errors.Is(err, ErrNotFound) {
		t.Fatalf("got %v, want ErrNotFound", err)
	}
	for _, want := range []string{
		"cuBLAS", "libcublas.so.13 or libcublas.so.12", "/usr/local/cuda/lib64", "/venv/lib/python3*/{site,dist}-packages/nvidia/{cublas,cu13}/lib",
		"/usr/local/cuda/lib64/libcublas.so.12: wrong ELF class", "to install it: pip install nvidia-cublas",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q lacks %q", err, want)
		}
	}
}

// TestWithoutWheels checks that Python's folders are not searched for a library that no wheel
// contains.
func TestWithoutWheels(t *testing.T) {
	driver := Library{Name: "NVML", Unix: []string{"libnvidia-ml.so.1"}, Get: "the driver"}
	_, err := fake(nil, map[string]string{"VIRTUAL_ENV": "/venv", "HOME": "/gopher"}, new(opened)).find(driver)
	if !errors.Is(err, ErrNotFound) || strings.Contains(err.Error(), "nvidia/{}") || strings.Contains(err.Error(), "/venv") {
		t.Errorf("got %v, want ErrNotFound without folders of wheels", err)
	}
}

func TestOtherSystems(t *testing.T) {
	m := fake(nil, nil, new(opened))
	m.os = "darwin"
	if _, err := m.find(blas); !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "darwin") {
		t.Errorf("on darwin: %v", err)
	}
	if runtime.GOOS == "windows" {
		return // the separators of paths differ on other systems
	}
	m = fake(nil, map[string]string{"CUDA_PATH": "D:/cuda", "ProgramFiles": "P:"}, new(opened))
	m.os = "windows"
	var folders []string
	for _, p := range m.places(blas) {
		folders = append(folders, p.patterns...)
	}
	for _, want := range []string{"D:/cuda/bin/x64", "D:/cuda/bin", `P:/NVIDIA GPU Computing Toolkit\CUDA\v*\bin`} {
		if !slices.Contains(folders, want) {
			t.Errorf("%q lacks %s", folders, want)
		}
	}
	if _, err := m.find(blas); !strings.Contains(err.Error(), "cublas64_13.dll") {
		t.Errorf("on windows: %v", err)
	}
}

func TestOpenHere(t *testing.T) {
	_, err := Open(Library{Name: "nothing", Unix: []string{"libgopherwarp-none.so.1"}, Windows: []string{"none.dll"}, Get: "luck"})
	if !errors.Is(err, ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
	var missing *NotFound
	if !errors.As(err, &missing) || len(missing.Where) == 0 {
		t.Errorf("%v lists no searched folders", err)
	}
}

func TestShims(t *testing.T) {
	m := fake(nil, map[string]string{"PATH": "/pyenv/shims"}, new(opened))
	m.real = func(path string) string { return path }
	if got := m.pythons(); !slices.Equal(got, []string{"/pyenv/versions/*"}) {
		t.Errorf("got %v", got)
	}
}
