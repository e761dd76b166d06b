package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/gopherwarp/gopherwarp/cpu"
)

// surroundings is what beside driver and GPUs decides how programs start: a test has its own.
type surroundings struct {
	goos   string
	env    func(name string) string
	home   string
	exists func(path string) bool
	size   func(folder string) (bytes int64, err error)
	look   func(program string) (path string, err error)
	lanes  int // of vector code on the CPU
}

// here is this machine.
func here() surroundings {
	home, _ := os.UserHomeDir() // without one there is no cache
	return surroundings{
		goos: runtime.GOOS, lanes: cpu.VectorLanes(), env: os.Getenv, home: home, size: folderSize, look: exec.LookPath,
		exists: func(path string) bool {
			_, err := os.Stat(path)
			return err == nil
		},
	}
}

// folderSize adds the sizes of the files in a folder.
func folderSize(folder string) (bytes int64, err error) {
	err = filepath.WalkDir(folder, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil && !e.IsDir() {
			bytes += info.Size()
		}
		return err
	})
	return bytes, err
}

// print describes what is there. Nothing of it is wrong: programs run without.
func (s surroundings) print(w io.Writer) {
	s.printVisible(w)
	s.printCache(w)
	if s.goos == "linux" {
		s.printPersistence(w)
		s.printToolkit(w)
	}
	s.printVectors(w)
}

// printVectors reports whether kernels that have vector code run it on the CPU.
func (s surroundings) printVectors(w io.Writer) {
	if s.lanes > 0 {
		fmt.Fprintf(w, "-      CPU: vector code runs %d threads at once; gopherwarp build -report shows which kernels have it\n", s.lanes)
	} else {
		fmt.Fprintln(w, "-      CPU: kernels run as plain Go, because vector code needs AVX2 and FMA, or AVX-512")
	}
}

func (s surroundings) printVisible(w io.Writer) {
	if v := s.env("CUDA_VISIBLE_DEVICES"); v != "" {
		fmt.Fprintf(w, "-      CUDA_VISIBLE_DEVICES=%s: programs see only these GPUs, or parts of GPUs (MIG)\n", v)
	}
}

// printCache looks for the cache of the driver's compiler, which NVIDIA describes in "CUDA
// Programming Guide", section "CUDA environment variables".
func (s surroundings) printCache(w io.Writer) {
	if s.env("CUDA_CACHE_DISABLE") == "1" {
		fmt.Fprintln(w, "-      CUDA_CACHE_DISABLE=1: the driver compiles a program's kernels again at every start")
		return
	}
	folder := s.env("CUDA_CACHE_PATH")
	switch {
	case folder != "":
	case s.goos == "windows":
		folder = filepath.Join(s.env("APPDATA"), "NVIDIA", "ComputeCache")
	default:
		folder = filepath.Join(s.home, ".nv", "ComputeCache")
	}
	if !s.exists(folder) {
		fmt.Fprintf(w, "-      the driver has not compiled any kernels for this user yet; it will cache them in %s\n", folder)
		return
	}
	bytes, err := s.size(folder)
	if err != nil {
		fmt.Fprintf(w, "-      the driver's cache of compiled kernels cannot be read: %v\n", err)
		return
	}
	fmt.Fprintf(w, "ok     the driver caches compiled kernels in %s, %.1f MiB, which is safe to delete\n", folder, float64(bytes)/(1<<20))
}

func (s surroundings) printPersistence(w io.Writer) {
	switch {
	case !s.exists("/dev/nvidiactl"):
	case s.exists("/run/nvidia-persistenced/socket") || s.exists("/var/run/nvidia-persistenced/socket"):
		fmt.Fprintln(w, "ok     nvidia-persistenced is running: the GPUs stay initialized between programs")
	default:
		fmt.Fprintln(w, "-      nvidia-persistenced is not running: unless another process keeps the GPUs initialized, the first program "+
			"takes a second or more to start (nvidia-smi -pm 1 also keeps them initialized)")
	}
}

func (s surroundings) printToolkit(w io.Writer) {
	for _, program := range []string{"nvidia-ctk", "nvidia-container-cli"} {
		if path, err := s.look(program); err == nil {
			fmt.Fprintf(w, "ok     NVIDIA's container toolkit is installed (%s): containers can use GPUs\n", path)
			return
		}
	}
	fmt.Fprintln(w, "-      NVIDIA's container toolkit is not installed; only hosts of containers that use GPUs need it")
}
