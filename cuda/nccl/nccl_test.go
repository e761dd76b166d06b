package nccl

import (
	"context"
	"errors"
	"io"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/cuda"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/cudasys/cudafake"

	"github.com/gopherwarp/gopherwarp/internal/toolkit"
)

// fake is the NCCL of one process. It records its last call, and fails or hangs on demand.
type fake struct {
	mu       sync.Mutex
	function function
	args     []uintptr
	calls    int
	failAt   int  // the call that fails, counted from 1
	hang     bool // calls from now on never complete
	busy     int  // polls until a call has completed
	comms    int  // that exist
	aborted  int
	inGroup  bool
	groups   int
}

func (f *fake) call(number int, _ toolkit.Before, args []uintptr) int32 {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	if f.calls == f.failAt {
		return int32(InternalError)
	}
	switch function(number) {
	case getVersion:
		**(**int32)(unsafe.Pointer(&args[0])) = 22803
	case getUniqueID:
		(**(**[uniqueIDBytes]byte)(unsafe.Pointer(&args[0])))[5] = 99
	case initRank:
		if (**(**[uniqueIDBytes]byte)(unsafe.Pointer(&args[4])))[5] != 99 || args[2] >= args[1] || args[3] != 1 {
			return int32(InvalidArgument)
		}
		if c := *(**config)(unsafe.Pointer(&args[5])); *c != *notBlocking() {
			return int32(InvalidArgument)
		}
		f.comms++
		**(**uintptr)(unsafe.Pointer(&args[0])) = 70 + args[2]
		f.busy = 3
		return int32(inProgress)
	case asyncError:
		state := *(**int32)(unsafe.Pointer(&args[1]))
		*state = int32(success)
		if f.busy--; f.busy > 0 || f.hang {
			*state = int32(inProgress)
		}
	case destroy, abort:
		f.comms--
		if function(number) == abort {
			f.aborted++
			f.hang = false
		}
	case groupStart, groupEnd:
		f.inGroup = function(number) == groupStart
		if !f.inGroup {
			f.groups++
		}
	case finalize:
	default:
		f.function = function(number)
		f.args = append(f.args[:0], args...)
		if f.hang {
			return int32(inProgress)
		}
	}
	return 0
}

func (f *fake) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

// process is a device, a stream and a library.
type process struct {
	*testing.T
	driver *cudafake.Fake
	fake   *fake
	dev    *device.Device
	stream *device.Stream
}

func newProcess(t *testing.T) *process {
	t.Helper()
	p := &process{T: t, driver: cudafake.New(cudafake.H200), fake: &fake{}}
	var err error
	p.dev, err = cuda.OpenOn(p.driver.Driver(), 0)
	p.check(err)
	p.stream, err = p.dev.NewStreamTo(io.Discard)
	p.check(err)
	return p
}

func (p *process) check(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

func (p *process) end() {
	p.Helper()
	_ = p.stream.Synchronize(context.Background())
	p.check(p.stream.Close())
	p.check(p.dev.Close())
	if live := p.driver.Live(); live != (cudafake.Live{}) || p.fake.comms != 0 {
		p.Errorf("not freed: %+v, %d communicators", live, p.fake.comms)
	}
}

func address(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skipf("no network: %v", err)
	}
	defer l.Close()
	return l.Addr().String()
}

// patience is a timeout for calls that take milliseconds.
const patience = time.Minute

// meet joins n processes.
func meet(t *testing.T, n int, timeout time.Duration) ([]*process, []*Comm) {
	t.Helper()
	at := address(t)
	processes, comms, errs := make([]*process, n), make([]*Comm, n), make([]error, n)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var all sync.WaitGroup
	for rank := range n {
		processes[rank] = newProcess(t)
		all.Go(func() {
			p, o := processes[rank], Options{Address: at, Rank: rank, World: n, Timeout: timeout}
			comms[rank], errs[rank] = join(ctx, newComm(known.With("", p.fake.call), p.stream, o), o)
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return processes, comms
}

func closeAll(t *testing.T, processes []*process, comms []*Comm) {
	t.Helper()
	var all sync.WaitGroup
	for _, c := range comms {
		all.Go(func() {
			if err := c.Close(); err != nil {
				t.Errorf("rank %d: %v", c.Rank(), err)
			}
		})
	}
	all.Wait()
	for _, p := range processes {
		p.end()
	}
}

// array returns n elements on the device, and their address.
func array(p *process, n int) (device.Slice[float32], uintptr) {
	p.Helper()
	buf, err := device.MakeDirty[float32](p.stream, n)
	p.check(err)
	l := p.stream.Loans()
	at := buf.All().Lend(&l)
	p.check(l.Enqueue(func() error { return nil }))
	return buf.All(), at
}

func TestCollectives(t *testing.T) {
	processes, comms := meet(t, 3, 0)
	p, c := processes[1], comms[1]
	xs, x := array(p, 30)
	ys, y := array(p, 30)
	stream := uintptr(0)
	wants := func(err error, f function, args ...uintptr) {
		t.Helper()
		p.check(err)
		got := p.fake.args
		if stream == 0 {
			stream = got[len(got)-1]
		}
		if p.fake.function != f || !slices.Equal(got, append(args, 71, stream)) {
			t.Errorf("%v was called with %x, want %v with %x", p.fake.function, got, f, args)
		}
	}
	wants(AllReduce(c, Max, xs, ys), allReduce, x, y, 30, 7, 2)
	wants(Reduce(c, Sum, 2, Pair[float32]{xs, ys}), reduce, x, y, 30, 7, 0, 2)
	wants(Broadcast(c, 2, xs, xs), broadcast, x, x, 30, 7, 2)
	wants(AllGather(c, xs.Slice(0, 10), ys), allGather, x, y, 10, 7)
	wants(ReduceScatter(c, Average, xs, ys.Slice(0, 10)), reduceScatter, x, y, 10, 7, 4)
	wants(Send(c, 2, xs.Slice(1, 3)), send, x+4, 2, 7, 2)
	wants(Receive(c, 0, device.View[uint8](xs)), receive, x, 120, 1, 0)
	if err := AllGather(c, xs, ys); !errors.Is(err, ErrLength) || !strings.Contains(err.Error(), "among 3 ranks: 30 elements in, 30 out") {
		t.Errorf("got %v", err)
	}
	if err := Send(c, 3, xs); !errors.Is(err, InvalidArgument) {
		t.Errorf("got %v", err)
	}
	if version, _, err := c.Version(); version != "2.28.3" || err != nil {
		t.Errorf("version %s, %v", version, err)
	}
	_, err := p.dev.Capture(func(*device.Stream) error { return nil })
	p.check(err)
	p.check(Group(func() error { return errors.Join(Send(c, 0, xs), Receive(c, 0, ys)) }, c))
	if p.fake.groups != 1 || p.fake.inGroup {
		t.Errorf("%d groups", p.fake.groups)
	}
	closeAll(t, processes, comms)
	if err := c.Close(); !errors.Is(err, ErrClosed) {
		t.Errorf("closed twice: %v", err)
	}
}

// TestMissing joins without one of the ranks.
func TestMissing(t *testing.T) {
	t.Parallel()
	p := newProcess(t)
	defer p.end()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second) // enough for rank 0 to join
	defer cancel()
	o := Options{Address: address(t), Rank: 0, World: 2}
	_, err := join(ctx, newComm(known.With("", p.fake.call), p.stream, o), o)
	if !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "nccl: rendezvous: rank 1 of 2 did not join within") {
		t.Errorf("got %v", err)
	}
}

// TestLost ends a rank while another waits for it: the other returns an error that names it, and
// does not hang.
func TestLost(t *testing.T) {
	processes, comms := meet(t, 2, 0)
	xs, _ := array(processes[1], 30)
	processes[1].fake.set(func() { processes[1].fake.hang = true })
	done := make(chan error)
	go func() { done <- AllReduce(comms[1], Sum, xs, xs) }()
	time.Sleep(20 * time.Millisecond)
	close(comms[0].quit) // rank 0 is killed
	comms[0].member.Kill()
	select {
	case err := <-done:
		if !errors.Is(err, ErrLost) || !strings.Contains(err.Error(), "rank 1: rendezvous: rank 0 ended") {
			t.Errorf("got %v", err)
		}
	case <-time.After(patience):
		t.Fatal("rank 1 hangs")
	}
	for comms[1].Err() == nil {
		runtime.Gosched()
	}
	if err := processes[1].stream.Synchronize(t.Context()); !errors.Is(err, ErrLost) {
		t.Errorf("the stream returned %v", err)
	}
	if err := AllReduce(comms[1], Sum, xs, xs); !errors.Is(err, ErrLost) {
		t.Errorf("later: %v", err)
	}
	processes[1].check(comms[1].Close())
	processes[1].end()
	if processes[1].fake.aborted != 1 {
		t.Error("the communicator was not aborted")
	}
	processes[0].check(processes[0].dev.Close())
}

// TestTimeout lets a rank hang.
func TestTimeout(t *testing.T) {
	t.Parallel()
	processes, comms := meet(t, 3, 3*time.Second) // enough for the two other ranks to reach the second collective
	var xs []device.Slice[float32]
	for rank, p := range processes {
		x, _ := array(p, 30)
		xs = append(xs, x)
		p.check(AllReduce(comms[rank], Sum, x, x))
		p.check(p.stream.Synchronize(t.Context()))
	}
	for rank, p := range processes[:2] { // not rank 2
		p.driver.Hold(true)
		p.check(AllReduce(comms[rank], Sum, xs[rank], xs[rank]))
	}
	for rank, c := range comms[:2] {
		for c.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		timeout, ok := errors.AsType[*TimeoutError](c.Err())
		if !ok || !slices.Equal(timeout.Behind, []int{2}) || !errors.Is(timeout, ErrMissing) || !errors.Is(timeout, ErrTimeout) {
			t.Errorf("rank %d: %v", rank, c.Err())
		}
		processes[rank].driver.Hold(false)
		if err := processes[rank].stream.Synchronize(t.Context()); !strings.Contains(err.Error(), "rank 2 did not reach it") {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
	closeAll(t, processes, comms)
}

// TestOneProcess has two ranks in one process.
func TestOneProcess(t *testing.T) {
	p, q := newProcess(t), newProcess(t)
	l := known.With("", p.fake.call)
	comms, err := all(t.Context(), l, []*device.Stream{p.stream, q.stream})
	p.check(err)
	xs, _ := array(p, 30)
	ys, _ := array(q, 30)
	p.check(Group(func() error {
		return errors.Join(AllReduce(comms[0], Sum, xs, xs), AllReduce(comms[1], Sum, ys, ys))
	}, comms...))
	p.check(comms[0].Close())
	if p.fake.comms != 2 {
		t.Error("one rank ended before the other was closed")
	}
	p.check(comms[1].Close())
	q.end()
	p.end()
}

// TestEveryFailure lets each call of the library fail in turn.
func TestEveryFailure(t *testing.T) {
	for at := 1; ; at++ {
		p := newProcess(t)
		p.fake.failAt = at
		err := p.work()
		_ = p.stream.Synchronize(t.Context())
		p.check(p.stream.Close())
		p.check(p.dev.Close())
		if p.fake.calls < at {
			p.check(err)
			return
		}
		if !errors.Is(err, InternalError) || !strings.Contains(err.Error(), "ncclInternalError") {
			t.Errorf("call %d fails: got %v", at, err)
		}
		if live := p.driver.Live(); live.Contexts+live.Allocations+live.Streams != 0 {
			t.Errorf("call %d fails: not freed: %+v", at, live)
		}
	}
}

func (p *process) work() error {
	comms, err := all(p.Context(), known.With("", p.fake.call), []*device.Stream{p.stream})
	if err != nil {
		return err
	}
	x, err := device.MakeDirty[float32](p.stream, 8)
	if err != nil {
		return err
	}
	c := comms[0]
	err = AllReduce(c, Sum, x.All(), x.All())
	err = errors.Join(err, Group(func() error { return Send(c, 0, x.All()) }, c), p.stream.Synchronize(context.Background()))
	return errors.Join(err, c.Close(), x.Close())
}

func TestTorchrun(t *testing.T) {
	env := map[string]string{"RANK": "3", "WORLD_SIZE": "4", "LOCAL_RANK": "1", "MASTER_ADDR": "node0", "MASTER_PORT": "29500", "GOPHERWARP_JOB_SECRET": "ours"}
	getenv := func(name string) string { return env[name] }
	p, err := Torchrun(getenv)
	if err != nil || p != (Process{Options{Address: "node0:29500", Rank: 3, World: 4, Secret: "ours"}, 1}) {
		t.Errorf("got %+v, %v", p, err)
	}
	env["TORCHELASTIC_USE_AGENT_STORE"] = "True"
	if p, _ := Torchrun(getenv); p.Address != "node0:29501" {
		t.Errorf("beside torchrun's own: %s", p.Address)
	}
	env["RANK"] = ""
	if _, err := Torchrun(getenv); err == nil || !strings.Contains(err.Error(), `RANK is ""`) {
		t.Errorf("got %v", err)
	}
}

func TestWords(t *testing.T) {
	if len(symbols) != int(receive)+1 || receive.String() != "ncclRecv" || unsafe.Sizeof(config{}) != 48 {
		t.Errorf("%d symbols, %v", len(symbols), receive)
	}
	if RemoteError.Error() != "ncclRemoteError" || Status(77).Error() != "ncclResult(77)" {
		t.Error(RemoteError, Status(77))
	}
}
