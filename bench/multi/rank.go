package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/gopherwarp/gopherwarp/cuda"
	"github.com/gopherwarp/gopherwarp/cuda/nccl"
)

// patience bounds the time of a collective.
const patience = 5 * time.Second

// rank runs one process of several, according to the environment. In the modes rank-dies and
// rank-hangs, the last rank ends, or hangs, before the second all-reduce of the others.
func rank(ctx context.Context, mode string) error {
	where, err := nccl.Torchrun(os.Getenv)
	if err != nil {
		return err
	}
	where.Timeout = patience
	g, err := open(where.LocalRank)
	if err != nil {
		return err
	}
	joining, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	c, err := nccl.Join(joining, g.stream, where.Options)
	if err != nil {
		return err
	}
	x, err := ones(g, float32(where.Rank+1))
	if err != nil {
		return err
	}
	y, err := ones(g, 0)
	if err != nil {
		return err
	}
	n := where.World
	together := func() error { // synchronizes the ranks, so that no rank's time includes the delay of another; allreduce.py does the same
		return errors.Join(nccl.AllReduce(c, nccl.Sum, x.Slice(0, 1), y.Slice(0, 1)), g.stream.Synchronize(ctx))
	}
	reduce := func() error {
		return errors.Join(nccl.AllReduce(c, nccl.Sum, x.All(), y.All()), g.stream.Synchronize(ctx))
	}
	t, err := median(together, reduce)
	if err = errors.Join(err, wants(ctx, g, y, float32(n*(n+1)/2))); err != nil {
		return fmt.Errorf("rank %d: %w", where.Rank, err)
	}
	if mode != "rank" {
		return fails(ctx, c, reduce, mode == "rank-dies")
	}
	if where.Rank == 0 {
		fmt.Printf("all-reduce of 1 GiB among %d processes: %v, %s\n", n, t, bus(n, t))
	}
	return errors.Join(every(c, gathered{g, x, y}), c.Close(), x.Close(), y.Close(), closeAll([]gpu{g}))
}

// fails lets the last rank end or hang, and checks that the others detect it.
func fails(ctx context.Context, c *nccl.Comm, reduce func() error, dies bool) error {
	if c.Rank() == c.World()-1 {
		if dies {
			time.Sleep(time.Second)
			p, err := os.FindProcess(os.Getpid())
			if err == nil {
				err = p.Kill()
			}
			return err
		}
		select {
		case <-time.After(3 * patience):
		case <-ctx.Done():
		}
		return nil
	}
	start := time.Now()
	err := reduce()
	fmt.Printf("rank %d detects it after %v: %v\n", c.Rank(), time.Since(start).Round(time.Millisecond), err)
	named := errors.Is(err, nccl.ErrLost) && dies || errors.Is(err, nccl.ErrMissing) && !dies
	if !named || c.Err() == nil {
		return fmt.Errorf("rank %d: the error does not name the missing rank", c.Rank())
	}
	return nil
}

// spawn starts a process for each GPU, as torchrun does, and waits for them.
func spawn(ctx context.Context, mode string) error {
	infos, err := cuda.List()
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	port := l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	var all []*exec.Cmd
	for i := range infos {
		p := exec.CommandContext(ctx, self, mode)
		p.Stdout, p.Stderr = os.Stdout, os.Stderr
		p.Env = append(os.Environ(), "RANK="+strconv.Itoa(i), "LOCAL_RANK="+strconv.Itoa(i), "WORLD_SIZE="+strconv.Itoa(len(infos)),
			"MASTER_ADDR=127.0.0.1", "MASTER_PORT="+strconv.Itoa(port))
		if err := p.Start(); err != nil {
			return err
		}
		all = append(all, p)
	}
	for i, p := range all {
		waited := p.Wait()
		if i == len(all)-1 && mode == "rank-dies" {
			continue // the process was killed
		}
		err = errors.Join(err, waited)
	}
	return err
}
