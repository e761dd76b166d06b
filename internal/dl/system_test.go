package dl

import (
	"errors"
	"strings"
	"testing"
)

// windowsLoader imitates the loader of Windows, with the given libraries and their functions: its
// messages do not name the library, and it reports a missing function by an error.
func windowsLoader(libraries map[string][]string) system {
	var open []string
	return system{
		open: func(name string) (uintptr, error) {
			if _, ok := libraries[name]; !ok {
				return 0, errors.New("The specified module could not be found.")
			}
			open = append(open, name)
			return uintptr(len(open)), nil
		},
		symbol: func(handle uintptr, name string) (uintptr, error) {
			for i, f := range libraries[open[handle-1]] {
				if f == name {
					return handle<<16 + uintptr(i), nil
				}
			}
			return 0, errors.New("The specified procedure could not be found.")
		},
	}
}

func TestWindows(t *testing.T) {
	s := windowsLoader(map[string][]string{"nvcuda.dll": {"cuInit", "cuLaunchKernel"}})
	lib, err := s.find([]string{"cublas64_13.dll", "nvcuda.dll"})
	if err != nil || lib.Name() != "nvcuda.dll" {
		t.Fatalf("found %v, %v", lib, err)
	}
	if a, err := lib.Symbol("cuLaunchKernel"); a != 1<<16+1 || err != nil {
		t.Errorf("cuLaunchKernel is at %#x, %v", a, err)
	}
	if _, err := lib.Symbol("cuLaunchKernelEx"); !errors.Is(err, ErrSymbol) || err.Error() != "nvcuda.dll: symbol missing: cuLaunchKernelEx" {
		t.Errorf("got %v", err)
	}
	_, err = s.find([]string{"cublas64_13.dll", "cublas64_12.dll"})
	for _, name := range []string{"cublas64_13.dll: The specified", "cublas64_12.dll: The specified"} {
		if !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), name) {
			t.Errorf("%v lacks %q", err, name)
		}
	}
}
