package cuda

import (
	"errors"
	"fmt"

	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/cudasys"
)

// Report is the result of Diagnose, in the order in which a user should read it.
type Report struct {
	Findings []Finding
	Devices  []driver.Info // the devices that can be used
}

// Finding is the result of one check. Means and Do are set if OK is false.
type Finding struct {
	What  string // the result, in a clause
	Means string // what this means, in a sentence
	Do    string // what the user can do, in a sentence
	OK    bool
}

// Usable reports whether a GPU can be used.
func (r Report) Usable() bool { return len(r.Devices) > 0 }

// Diagnose checks everything that a program needs to use an NVIDIA GPU. It opens every device,
// which takes about a tenth of a second for each.
func Diagnose() Report { return here().diagnose() }

func (m machine) diagnose() Report {
	var r Report
	driver, err := m.driver()
	m.diagnoseLibrary(&r, driver, err)
	if m.os == "linux" && !m.windowsHost() {
		m.diagnoseModule(&r)
		m.diagnoseNodes(&r)
	}
	if driver == nil {
		return r
	}
	r.ok("the driver supports " + cudaLevel(driver))
	if err := m.initialize(driver); err != nil {
		r.bad(err)
		return r
	}
	m.diagnoseDevices(&r, driver)
	return r
}

func (r *Report) ok(what string) { r.Findings = append(r.Findings, Finding{What: what, OK: true}) }

// bad adds the finding that err describes, unless the report already has it.
func (r *Report) bad(err error) {
	f := Finding{What: err.Error(), Means: "The driver failed in a way that this program does not know.",
		Do: "Run nvidia-smi; if it fails too, restart the machine."}
	if u, ok := errors.AsType[*Unavailable](err); ok {
		f = Finding{What: u.What, Means: u.Means, Do: u.Do}
	}
	for _, said := range r.Findings {
		if said.What == f.What {
			return
		}
	}
	r.Findings = append(r.Findings, f)
}

// diagnoseLibrary reports where the driver's library is, or why it could not be loaded.
func (m machine) diagnoseLibrary(r *Report, d *cudasys.Driver, err error) {
	if err != nil {
		r.bad(err)
		return
	}
	what := fmt.Sprintf("the driver's library is %s", d.Library)
	if path := m.libraryPath(); path != "" {
		what += fmt.Sprintf(" (%s)", path)
	}
	r.ok(what)
}

// diagnoseModule checks the driver's kernel module.
func (m machine) diagnoseModule(r *Report) {
	if v := m.moduleVersion(); v != "" {
		r.ok("the kernel module nvidia is loaded, version " + v)
		return
	}
	if m.nouveau() {
		u := m.noDevice(nil)
		r.Findings = append(r.Findings, Finding{What: "the kernel module nouveau is loaded", Means: u.Means, Do: u.Do})
		return
	}
	r.Findings = append(r.Findings, Finding{
		What:  "the kernel module nvidia is not loaded",
		Means: "The driver's library reaches the GPU through this module.",
		Do:    "After installing the driver: sudo modprobe nvidia. In a container or virtual machine the host must provide it.",
	})
}

// diagnoseNodes checks the device files.
func (m machine) diagnoseNodes(r *Report) {
	nodes := m.nodes()
	path := m.forbidden()
	switch {
	case path != "":
		r.bad(m.noPermission(path, nil))
	case len(nodes) > 0:
		r.ok(fmt.Sprintf("the %d device files /dev/nvidia* can be opened", len(nodes)))
	case m.inContainer():
		r.Findings = append(r.Findings, Finding{
			What:  "this is a container without device files of a GPU (/dev/nvidia*)",
			Means: "The container was started without a GPU.",
			Do:    "Start the container with its GPU option (docker run --gpus all).",
		})
	default:
		r.Findings = append(r.Findings, Finding{
			What:  "there are no device files of a GPU (/dev/nvidia*)",
			Means: "The driver's kernel module creates them when it finds a GPU.",
			Do:    "Run nvidia-smi as root, which creates them; if it fails, it prints the reason.",
		})
	}
}

// diagnoseDevices opens and closes each device.
func (m machine) diagnoseDevices(r *Report, d *cudasys.Driver) {
	n, err := m.count(d)
	if err != nil {
		r.bad(err)
		return
	}
	for i := range n {
		dev, err := m.openDevice(i)
		if err != nil {
			r.bad(err)
			continue
		}
		info := dev.Info()
		if err := dev.Close(); err != nil {
			r.bad(err)
			continue
		}
		r.ok(fmt.Sprintf("device %d is %s, compute capability %v, %s, at %s",
			i, info.Name, info.Capability, bytesText(int(info.Memory)), info.Bus))
		r.Devices = append(r.Devices, info)
	}
}
