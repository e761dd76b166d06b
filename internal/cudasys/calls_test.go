package cudasys

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/internal/dl"
)

// compiled returns a driver with the functions of testdata/driver.c, and a function that returns
// the first arguments of the last call.
func compiled(t *testing.T) (*Driver, func(n int) []int) {
	t.Helper()
	cc, err := exec.LookPath("cc")
	file := filepath.Join(t.TempDir(), map[string]string{"linux": "libdriver.so", "windows": "nvcuda.dll"}[runtime.GOOS])
	if err != nil || filepath.Ext(file) == "" {
		t.Skip("needs a C compiler, and Linux or Windows")
	}
	if out, err := exec.Command(cc, "-shared", "-fPIC", "-o", file, "testdata/driver.c").CombinedOutput(); err != nil {
		t.Skipf("the C compiler does not work: %v\n%s", err, out)
	}
	lib, err := dl.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	argument, err := lib.Symbol("argument")
	if err != nil {
		t.Fatal(err)
	}
	d, err := bind(func(symbol string) (uintptr, error) {
		if a, err := lib.Symbol(symbol); err == nil {
			return a, nil
		}
		return 1, nil // the test does not call the functions that driver.c lacks
	})
	if err != nil {
		t.Fatal(err)
	}
	return d, func(n int) (args []int) {
		for i := range n {
			args = append(args, int(dl.Call(argument, uintptr(i))))
		}
		return args
	}
}

// caller checks calls of a compiled driver.
type caller struct {
	t      *testing.T
	called func(n int) []int
}

// wants checks that a call succeeded with the given arguments.
func (c caller) wants(what string, s Status, args ...int) {
	c.t.Helper()
	if s != Success {
		c.t.Errorf("%s: %v", what, s)
	}
	if got := c.called(len(args)); !slices.Equal(got, args) {
		c.t.Errorf("%s was called with %v, want %v", what, got, args)
	}
}

func TestStructCalls(t *testing.T) {
	d, called := compiled(t)
	c := caller{t, called}
	params := new(uint64)
	*params = 99
	l := &Launch{Function: 6, Grid: [3]uint32{1, 2, 3}, Block: [3]uint32{4, 5, 6}, Shared: 7, Stream: 8, Used: 2}
	l.Params[0] = unsafe.Pointer(params)
	l.Attributes[0] = LaunchAttribute{ID: LaunchCooperative, Value: [16]uint32{1}}
	l.Attributes[1] = LaunchAttribute{ID: LaunchCluster, Value: [16]uint32{2, 3, 4}}
	c.wants("launch", d.LaunchKernelEx(l), 6, 1, 2, 3, 4, 5, 6, 7, 8, 2, 2, 1, 4, 3, 99, 0)
	if n := testing.AllocsPerRun(100, func() { d.LaunchKernelEx(l) }); n != 0 {
		t.Errorf("%v allocations per launch, want 0", n)
	}

	var n GraphNode
	k := &KernelNode{Function: 6, Grid: [3]uint32{1, 2, 3}, Block: [3]uint32{4, 5, 6}, Shared: 7}
	k.Params[0] = unsafe.Pointer(params)
	c.wants("kernel node", d.GraphAddKernelNode(&n, 20, []GraphNode{21, 22}, k), 0, 20, 22, 2, 6, 3, 4, 7, 99, 0, 0, 0)
	host := new(int32)
	*host = 42
	copied := &Copy3D{
		Src:   Side3D{Type: OnHost, Host: unsafe.Pointer(host), Pitch: 4, Height: 1},
		Dst:   Side3D{Type: OnDevice, Device: 1 << 40, Pitch: 4, Height: 5},
		Width: 4, Height: 1, Depth: 1, Context: 30,
	}
	c.wants("copy node", d.GraphAddMemcpyNode(&n, 20, nil, copied), 20, 0, 1, 42, 4, 2, 1<<40, 5, 4, 1, 1, 30)
	set := &Memset{Dst: 1 << 41, Pitch: 9, Value: 3, Size: 2, Width: 100, Height: 1, Context: 30}
	c.wants("memset node", d.GraphAddMemsetNode(&n, 20, nil, set), 20, 0, 1<<41, 9, 3, 2, 100, 1, 30)
	edge := &GraphEdge{From: 7, To: 8, Data: GraphEdgeData{FromPort: PortProgrammatic, Type: EdgeProgrammatic}}
	c.wants("edge", d.GraphAddDependencies(20, edge), 20, 7, 8, 1, 0, 1, 0, 1)
	c.wants("attribute", d.GraphKernelNodeSetAttribute(9, &l.Attributes[1]), 9, 4, 4)
	rows := &Copy2D{
		Src:   Side2D{X: 1, Type: OnDevice, Device: 1 << 40, Pitch: 256},
		Dst:   Side2D{Y: 2, Type: OnDevice, Device: 1 << 41, Pitch: 512},
		Width: 100, Height: 7,
	}
	c.wants("copy of rows", d.Memcpy2DAsync(rows, 8), 1, 2, 1<<40, 256, 2, 2, 1<<41, 512, 100, 7, 8)
	if n != 9 {
		t.Errorf("the node is %d", n)
	}
}

func TestPoolCalls(t *testing.T) {
	d, called := compiled(t)
	c := caller{t, called}
	var pool Pool
	var p uintptr
	var s Stream
	props := &PoolProps{AllocType: PoolPinned, LocationType: PoolOnDevice, LocationID: 3, MaxSize: 1 << 35}
	c.wants("pool", d.MemPoolCreate(&pool, props), 88, 1, 0, 1, 3, 0, 1<<35, 0, 0)
	c.wants("allocate", d.MemAllocFromPoolAsync(&p, 1<<33, pool, 8), 0, 1<<33, 10, 8)
	c.wants("prefetch", d.MemPrefetchAsync(1<<40, 5, CPU, 8), 1<<40, 5, -1, 8)
	c.wants("peer copy", d.MemcpyPeerAsync(&PeerCopy{1, 2, 3, 4, 5}, 6), 1, 2, 3, 4, 5, 6)
	o := new(BestBlock)
	c.wants("occupancy", d.OccupancyMaxPotentialBlockSize(o, 6, 1000, 256), 0, 0, 6, 0, 1000, 256)
	c.wants("stream", d.StreamCreateWithPriority(&s, StreamNonBlocking, -5), 0, 1, -5)
	if pool != 10 || p != 0x7f0000000001 || *o != (BestBlock{264, 512}) || s != 11 {
		t.Errorf("results are %d, %#x, %+v, %d", pool, p, *o, s)
	}
}

// TestCalls checks that the Go functions pass their arguments to the driver, and return its
// results.
func TestCalls(t *testing.T) {
	d, called := compiled(t)
	check := func(what string, s, want Status, args ...int) {
		t.Helper()
		if s != want {
			t.Errorf("%s: %v, want %v", what, s, want)
		}
		if got := called(len(args)); !slices.Equal(got, args) {
			t.Errorf("%s was called with %v, want %v", what, got, args)
		}
	}
	var v int32
	check("attribute", d.DeviceGetAttribute(&v, MultiprocessorCount, 3), Success, 0, 16, 3)
	name := make([]byte, 100)
	check("name", d.DeviceGetName(name, 2), Success, 0, 100, 2)
	var p, q uintptr
	check("alloc", d.MemAlloc(&p, 5<<32), OutOfMemory, 0, 5<<32)
	host := new([4]int32)
	host[0] = 42
	check("device pointer", d.MemHostGetDevicePointer(&q, unsafe.Pointer(host), 0), Success, 0, 42, 0)
	if v != 1234 || !strings.HasPrefix(string(name), "stub\x00") || p != 0x7f0123456789abcd || q != 77 {
		t.Errorf("results are %d, %q, %#x, %d", v, name[:5], p, q)
	}

	const high = 0x7f0000000000
	check("upload", d.MemcpyHtoDAsync(high, []byte{8, 7}, 11), Success, high, 8, 2, 11)
	back := make([]byte, 3)
	check("download", d.MemcpyDtoHAsync(back, high+1, 12), NotReady, 0, high+1, 3, 12)
	check("clear", d.MemsetD8Async(high, 255, 1<<33, 13), Success, high, 255, 1<<33, 13)
	var ms float32
	check("time", d.EventElapsedTime(&ms, 14, 15), Success, 0, 14, 15)
	if ms != 1.5 || !slices.Equal(back, []byte{9, 9, 9}) {
		t.Errorf("results are %v, %v", ms, back)
	}
}

func TestModuleCalls(t *testing.T) {
	d, called := compiled(t)
	var m Module
	log := new(Log)
	if s := d.ModuleLoadDataEx(&m, []byte("PTX\x00"), log); s != InvalidPTX || m != 5 {
		t.Errorf("load: %v, module %d", s, m)
	}
	if got, want := called(9), []int{0, 'P', 4, 3, 4, 5, 6, 8192, 8192}; !slices.Equal(got, want) {
		t.Errorf("load was called with %v, want %v", got, want)
	}
	if !strings.HasPrefix(string(log.Info[:]), "information\x00") || !strings.HasPrefix(string(log.Error[:]), "error\x00") {
		t.Errorf("logs are %q and %q", log.Info[:12], log.Error[:12])
	}
	var f Function
	if s := d.ModuleGetFunction(&f, m, []byte("multiply\x00")); s != Success || f != 6 || called(3)[2] != 8 {
		t.Errorf("function: %v, %d, name of %d bytes", s, f, called(3)[2])
	}
	params := new(uint64)
	*params = 99
	l := &Launch{Function: f, Grid: [3]uint32{1, 2, 3}, Block: [3]uint32{4, 5, 6}, Shared: 7, Stream: 8}
	l.Params[0] = unsafe.Pointer(params)
	if s := d.LaunchKernel(l); s != Success {
		t.Errorf("launch: %v", s)
	}
	if got, want := called(11), []int{6, 1, 2, 3, 4, 5, 6, 7, 8, 99, 0}; !slices.Equal(got, want) {
		t.Errorf("launch was called with %v, want %v", got, want)
	}
	if n := testing.AllocsPerRun(100, func() { d.LaunchKernel(l) }); n != 0 {
		t.Errorf("%v allocations per launch, want 0", n)
	}
}

// TestCallsInContext makes a context current in the call that needs it.
func TestCallsInContext(t *testing.T) {
	d, called := compiled(t)
	c := caller{t, called}
	c.wants("graph launch", d.GraphLaunch(12, 4, 5), 4, 5, 12)
	c.wants("graph launch in the same context", d.GraphLaunch(0, 6, 7), 6, 7, 12)
	if s := d.GraphLaunch(13, 8, 9); s != InvalidContext {
		t.Errorf("graph launch in no context: %v, want %v", s, InvalidContext)
	}
	if got, want := called(3), []int{6, 7, 12}; !slices.Equal(got, want) {
		t.Errorf("a launch in no context was made: %v, want %v", got, want)
	}
	params := new(uint64)
	l := &Launch{Context: 14, Function: 6, Grid: [3]uint32{1, 2, 3}, Block: [3]uint32{4, 5, 6}, Shared: 7, Stream: 8}
	l.Params[0] = unsafe.Pointer(params)
	c.wants("launch", d.LaunchKernel(l), 6, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0)
	c.wants("graph launch after it", d.GraphLaunch(0, 1, 2), 1, 2, 14)
}
