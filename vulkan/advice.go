package vulkan

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// machine is what errors look at to say what to do.
type machine struct {
	os   string
	glob func(pattern string) ([]string, error)
	open func(name string) (*os.File, error)
}

func thisMachine() machine { return machine{runtime.GOOS, filepath.Glob, openNode} }

// openNode opens a device file as drivers do.
func openNode(name string) (*os.File, error) { return os.OpenFile(name, os.O_RDWR, 0) }

// forLoader says how to install Vulkan's loader.
func (m machine) forLoader() string {
	switch m.os {
	case "windows":
		return "install the driver of the GPU's maker, which contains it"
	case "darwin":
		return "install MoltenVK, with which Gopherwarp is not tested"
	}
	return "install the package libvulkan1 (Debian, Ubuntu), vulkan-loader (Fedora) or vulkan-icd-loader (Arch)"
}

// forDriver says how to make the loader find a driver with a device.
func (m machine) forDriver() string {
	switch m.os {
	case "windows":
		return "install the driver of the GPU's maker"
	case "darwin":
		return "install MoltenVK, with which Gopherwarp is not tested"
	}
	install := "install the GPU's driver: for AMD and Intel, the package mesa-vulkan-drivers (Debian, Ubuntu, Fedora), vulkan-radeon or vulkan-intel (Arch)"
	if advice := m.forNodes(); advice != "" {
		install += "; also, " + advice
	}
	return install
}

// forFeatures says how to make a device have more features.
func (m machine) forFeatures() string {
	switch m.os {
	case "windows":
		return "a newer driver of the GPU's maker may have more"
	case "darwin":
		return "a newer MoltenVK may have more"
	}
	return "a newer driver of the GPU may have more: for AMD and Intel, a newer package mesa-vulkan-drivers (Debian, Ubuntu, Fedora), vulkan-radeon or vulkan-intel (Arch)"
}

// nodes are the device files that drivers of GPUs open on Linux.
const nodes = "/dev/dri/renderD*"

// forNodes says what to do on Linux if a driver can open no GPU, or returns "".
func (m machine) forNodes() string {
	list, _ := m.glob(nodes)
	if len(list) == 0 {
		return "there is no " + nodes + ", so Linux has no driver of the GPU, or this is a container that needs --device=/dev/dri"
	}
	if closed := m.closed(); len(closed) == len(list) {
		return "the user may not open " + strings.Join(closed, ", ") + ": run sudo usermod -aG render $USER, and log in again"
	}
	return ""
}

// closed returns the device files of GPUs that the user may not open.
func (m machine) closed() (names []string) {
	list, _ := m.glob(nodes)
	for _, name := range list {
		f, err := m.open(name)
		if os.IsPermission(err) {
			names = append(names, name)
		}
		if err == nil {
			f.Close()
		}
	}
	return names
}

// WhyNoGPU returns advice for a machine whose GPUs are missing from List although the loader finds a driver. For example, Mesa lists only its
// software device if Mesa cannot open a GPU. WhyNoGPU returns "" if it has no advice.
func WhyNoGPU() string {
	if m := thisMachine(); m.os == "linux" {
		return m.forNodes()
	}
	return ""
}
