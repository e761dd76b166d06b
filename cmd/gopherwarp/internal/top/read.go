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
	nvml.State
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
	monitors []*nvml.Monitor
	versions nvml.Versions
	last     time.Time
}

// NewReader returns a reader of all GPUs that lib sees. Close lib after it.
func NewReader(lib *nvml.Library) (*Reader, error) {
	monitors, versions, err := lib.Monitors()
	if err != nil {
		return nil, err
	}
	return &Reader{library: lib, monitors: monitors, versions: versions, last: time.Now().Add(-time.Second)}, nil
}

// Read reads a snapshot. A GPU that does not answer has an error in it.
func (r *Reader) Read() Snapshot {
	s := Snapshot{Time: time.Now(), Versions: r.versions}
	for _, m := range r.monitors {
		g := GPU{Name: m.Name(), Bus: m.Bus().ID}
		g.Err = r.gpu(m, &g)
		s.GPUs = append(s.GPUs, g)
	}
	r.last = s.Time
	return s
}

func (r *Reader) gpu(d *nvml.Monitor, g *GPU) (err error) {
	if g.State, err = d.Read(); err != nil {
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
