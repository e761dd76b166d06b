package cuda

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/gopherwarp/gopherwarp/internal/cudasys"
)

// machine is what the package asks of the system. Tests put others in its place.
type machine struct {
	os   string // runtime.GOOS
	load func() (*cudasys.Driver, error)
	read func(path string) ([]byte, error)
	open func(path string) error // for reading and writing
	glob func(pattern string) []string
}

// here is the machine that the program runs on.
func here() machine {
	return machine{
		os: runtime.GOOS, load: cudasys.Load, read: os.ReadFile,
		open: func(path string) error {
			f, err := os.OpenFile(path, os.O_RDWR, 0)
			if err != nil {
				return err
			}
			return f.Close()
		},
		glob: func(pattern string) []string {
			paths, err := filepath.Glob(pattern)
			if err != nil {
				panic("BUG: bad pattern " + pattern)
			}
			return paths
		},
	}
}

// nodes returns the device files of the driver.
func (m machine) nodes() []string {
	return slices.Concat(m.glob("/dev/nvidiactl"), m.glob("/dev/nvidia-uvm"), m.glob("/dev/nvidia[0-9]*"))
}

// forbidden returns the first device file that this user may not open, or "".
func (m machine) forbidden() string {
	for _, path := range m.nodes() {
		if errors.Is(m.open(path), fs.ErrPermission) {
			return path
		}
	}
	return ""
}

// exists reports whether there is a file.
func (m machine) exists(path string) bool { return len(m.glob(path)) > 0 }

func (m machine) nouveau() bool { return m.exists("/sys/module/nouveau") }

func (m machine) inContainer() bool {
	return m.exists("/.dockerenv") || m.exists("/run/.containerenv")
}

// windowsHost reports whether this is Linux inside Windows, whose driver has no kernel module
// and no device files here.
func (m machine) windowsHost() bool { return m.exists("/dev/dxg") }

func (m machine) moduleMissing() bool {
	return m.os == "linux" && !m.windowsHost() && m.moduleVersion() == ""
}

// moduleVersion returns the version of the loaded kernel module, which is the driver's:
// "580.159.04"; "" where there is none.
func (m machine) moduleVersion() string {
	text, err := m.read("/sys/module/nvidia/version")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// libraryPath returns where the loaded library of a name is in the file system, or "".
func (m machine) libraryPath() string {
	maps, err := m.read("/proc/self/maps")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(maps)) {
		if at := strings.IndexByte(line, '/'); at >= 0 && strings.Contains(line[at:], "/libcuda.so") {
			return strings.TrimSpace(line[at:])
		}
	}
	return ""
}
