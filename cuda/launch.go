package cuda

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/cudasys"
)

// Launch implements device.Queue. The driver copies the parameter block before it returns.
func (q *queue) Launch(p *device.Plan) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	k := p.Kernel()
	l, err := q.backend.load(k)
	if err != nil {
		return err
	}
	var env uintptr
	if len(k.Sites) > 0 {
		if env, err = q.environment(); err != nil {
			return err
		}
	}
	p.SetHidden(uint64(env), q.launches, l.number)
	q.launches++

	a := q.launch
	a.Function = cudasys.Function(l.function.Load())
	a.Grid, a.Block = sizes(p)
	a.Params[0] = p.Params()
	err = q.do("cuLaunchKernel", func() cudasys.Status { return q.backend.driver.LaunchKernel(a) })
	a.Params[0] = nil
	if err != nil {
		return about(err, fmt.Sprintf("%s, %v blocks of %v threads", k.Name, a.Grid, a.Block))
	}
	return nil
}

// sizes returns the plan's grid in the driver's types.
func sizes(p *device.Plan) (grid, block [3]uint32) {
	g, b := p.Grid()
	for i := range grid {
		grid[i], block[i] = uint32(g[i]), uint32(b[i])
	}
	return grid, block
}
