package cpu

import (
	"sync"

	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/simt"
)

// printBytes bounds what kernels may print between two waits, in bytes including the records, like
// the buffer of a GPU.
const printBytes = 1 << 20

// prints collects the lines that the kernels of a queue print.
type prints struct {
	mu    sync.Mutex
	lines []driver.Print
	bytes int
	lost  int
}

// add adds a line of the launch with the given number, or counts it as lost.
func (p *prints) add(launch uint32, line simt.Line) {
	p.mu.Lock()
	defer p.mu.Unlock()
	size := driver.RecordArgs + len(line.Text)
	if p.bytes+size > printBytes {
		p.lost++
		return
	}
	p.bytes += size
	p.lines = append(p.lines, driver.Print{Launch: launch, Block: line.Block, Thread: line.Thread, Text: line.Text})
}

// take returns the lines and the number of lost lines, and resets both.
func (p *prints) take() ([]driver.Print, int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	lines, lost := p.lines, p.lost
	p.lines, p.bytes, p.lost = nil, 0, 0
	return lines, lost
}
