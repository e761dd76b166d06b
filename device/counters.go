package device

import (
	"sync/atomic"
	"time"
)

// Counters counts the work and the waits of a device's streams since the device was opened.
type Counters struct {
	Launches, Graphs, Uploads, Downloads, Copies, PeerCopies, Fills Count

	Waits   uint64        // completed calls of Synchronize
	Waiting time.Duration // total duration of these calls
	Faults  uint64        // faults of kernels that a Synchronize has waited for
}

// Count is a number of calls and the bytes that they copied or filled.
type Count struct{ Calls, Bytes uint64 }

// Counters returns the current counts. A graph counts as one piece of work; an empty launch does not count.
func (d *Device) Counters() Counters {
	c := &d.counters
	at := func(w Work) Count { return Count{c.calls[w].Load(), c.bytes[w].Load()} }
	return Counters{
		Launches: at(WorkLaunch), Graphs: at(WorkGraph), Uploads: at(WorkUpload), Downloads: at(WorkDownload),
		Copies: at(WorkCopy), PeerCopies: at(WorkPeer), Fills: at(WorkFill),
		Waits: c.waits.Load(), Waiting: time.Duration(c.waiting.Load()), Faults: c.faults.Load(),
	}
}

// counters are the counts of a device.
type counters struct {
	calls, bytes   [workKinds]atomic.Uint64
	waits, waiting atomic.Uint64
	faults         atomic.Uint64
}

func (c *counters) count(w Work, bytes int) {
	c.calls[w].Add(1)
	if bytes > 0 {
		c.bytes[w].Add(uint64(bytes))
	}
}

// waited counts a wait and the fault that it returned, if any.
func (c *counters) waited(took time.Duration, f *Fault) {
	c.waits.Add(1)
	c.waiting.Add(uint64(took))
	if f != nil {
		c.faults.Add(1)
	}
}
