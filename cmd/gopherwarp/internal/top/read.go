package top

import (
	"path/filepath"
	"time"

	"github.com/gopherwarp/gopherwarp/cuda/nvml"
)

// Snapshot is the state of a machine's GPUs at one moment.
type Snapshot struct {
	Time     time.Time
	Versions nvml.Versions
	GPUs     []GPU
}

// GPU is the state of one GPU.
type GPU struct {
	Name, Bus string
	Err       error // why nothing more is known, or nil
	nvml.Reading
	Traffic   nvml.Traffic
	Usage     nvml.Usage // since the snapshot before
	Processes []Process
}

// Process is a process that uses a GPU.
type Process struct {
	PID    int
	Name   string
	Memory nvml.Figure // bytes
	Load   nvml.Figure // percent of the GPU's time since the snapshot before
}

// Reader reads snapshots, one after the other.
type Reader struct {
	library  *nvml.Library
	devices  []*nvml.Device
	versions nvml.Versions
	meters   []*nvml.Meter
	last     time.Time
}

// NewReader returns a reader of all GPUs that lib sees. Close lib after it.
func NewReader(lib *nvml.Library) (*Reader, error) {
	devices, err := lib.Devices()
	if err != nil {
		return nil, err
	}
	versions, err := lib.Versions()
	if err != nil {
		return nil, err
	}
	r := &Reader{library: lib, devices: devices, versions: versions, last: time.Now().Add(-time.Second)}
	for _, d := range devices {
		r.meters = append(r.meters, d.Meter())
	}
	return r, nil
}

// Read reads a snapshot. A GPU that does not answer has an error in it.
func (r *Reader) Read() Snapshot {
	s := Snapshot{Time: time.Now(), Versions: r.versions}
	for i, d := range r.devices {
		g := GPU{Name: d.Name(), Bus: d.Bus().ID}
		g.Err = r.gpu(i, &g)
		s.GPUs = append(s.GPUs, g)
	}
	r.last = s.Time
	return s
}

func (r *Reader) gpu(i int, g *GPU) (err error) {
	d := r.devices[i]
	if g.Reading, err = d.Read(); err != nil {
		return err
	}
	if g.Traffic, err = d.Traffic(); err != nil {
		return err
	}
	if g.Usage, err = r.meters[i].Usage(); err != nil {
		return err
	}
	processes, err := d.Processes()
	if err != nil {
		return nil // what is known of the GPU is worth more than the error
	}
	loads, err := d.ProcessLoads(r.last)
	if err != nil {
		loads = nil
	}
	for _, p := range processes {
		shown := Process{PID: p.PID, Memory: p.Memory}
		if name, err := r.library.ProcessName(p.PID); err == nil {
			shown.Name = filepath.Base(name)
		}
		for _, l := range loads {
			if l.PID == p.PID {
				shown.Load = nvml.Known(float64(l.GPU))
			}
		}
		g.Processes = append(g.Processes, shown)
	}
	return nil
}
