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

// machine is the package's access to the operating system. Tests replace it.
type machine struct {
	os   string // runtime.GOOS
	load func() (*cudasys.Driver, error)
	read func(path string) ([]byte, error)
	open func(path string) error // opens for reading and writing
	glob func(pattern string) []string
}

// here returns the machine that the program runs on.
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

// exists reports whether a file with this path exists.
func (m machine) exists(path string) bool { return len(m.glob(path)) > 0 }

func (m machine) nouveau() bool { return m.exists("/sys/module/nouveau") }

func (m machine) inContainer() bool {
	return m.exists("/.dockerenv") || m.exists("/run/.containerenv")
}

// windowsHost reports whether the program runs in WSL, where the driver has neither a kernel module
// nor device files.
func (m machine) windowsHost() bool { return m.exists("/dev/dxg") }

func (m machine) moduleMissing() bool {
	return m.os == "linux" && !m.windowsHost() && m.moduleVersion() == ""
}

// moduleVersion returns the version of the loaded kernel module, which is the driver's version,
// such as "580.159.04", or "" if no module is loaded.
func (m machine) moduleVersion() string {
	text, err := m.read("/sys/module/nvidia/version")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// libraryPath returns the path of the loaded driver library, or "".
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
