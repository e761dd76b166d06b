package cpu

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/sys/unix"

	"github.com/gopherwarp/gopherwarp/device"
)

func TestParseField(t *testing.T) {
	const text = "processor\t: 0\nmodel name\t: Fast: One\nmodel name\t: Two\nMemTotal:    16 kB\n"
	for key, want := range map[string]string{"model name": "Fast: One", "MemTotal": "16 kB", "nothing": ""} {
		if got := parseField(strings.NewReader(text), key); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	if got := field(fstest.MapFS{}, "proc/cpuinfo", "x"); got != "" {
		t.Errorf("a missing file has %q", got)
	}
}

func TestHost(t *testing.T) {
	name, memory := host()
	if name == "" || memory < 64<<20 {
		t.Errorf("the host is %q with %d bytes", name, memory)
	}
}

// TestRoom has systems with and without available memory, and a heap whose limit is lower or higher.
func TestRoom(t *testing.T) {
	const available = "MemTotal:  99999999 kB\nMemFree:   1 kB\nMemAvailable:  1048576 kB\n" // 1 GiB
	for _, c := range []struct {
		name, meminfo          string
		limit, used, low, high int64
	}{
		{"available memory", available, 1 << 40, 0, 1 << 30, 3 << 29},
		{"buffers do not count twice", available, 1 << 40, 1 << 39, 1 << 30, 3 << 29},
		{"a lower limit", available, 5 << 20, 2 << 20, 3 << 20, 3 << 20},
		{"a limit that is exceeded", available, 1 << 20, 2 << 20, 0, 0},
		{"an old system", "MemTotal: 4 kB\n", 7, 1, 6, 6},
	} {
		h := &heap{limit: c.limit, used: c.used}
		if got := h.room(fstest.MapFS{"proc/meminfo": {Data: []byte(c.meminfo)}}); got < c.low || got > c.high {
			t.Errorf("%s: %d, want %d to %d", c.name, got, c.low, c.high)
		}
	}
}

// TestRoomOfClosedBuffers closes a buffer, whose memory then counts as free.
func TestRoomOfClosedBuffers(t *testing.T) {
	root := fstest.MapFS{"proc/meminfo": {Data: []byte("MemAvailable: 1024 kB\n")}}
	h := &heap{limit: 1 << 40}
	const size = 64 << 20
	m, err := h.allocate(size)
	if err != nil {
		t.Fatal(err)
	}
	before := h.room(root)
	if err := m.Free(); err != nil {
		t.Fatal(err)
	}
	if after := h.room(root); after-before < size/2 {
		t.Errorf("%d bytes with a buffer of %d, and %d after it is closed", before, size, after)
	}
}

// TestRoomOfDevice demands that the device knows its free memory.
func TestRoomOfDevice(t *testing.T) {
	dev, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	if room, err := dev.Room(); err != nil || room <= 0 || room > dev.Info().Memory {
		t.Errorf("%d of %d bytes are free, %v", room, dev.Info().Memory, err)
	}
}

func TestCgroupLimit(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  int64
	}{
		{"no groups", nil, 0},
		{"version 2", map[string]string{
			"proc/self/cgroup":                       "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max":           "max\n",
			"sys/fs/cgroup/a/memory.max":             "4096\n",
			"sys/fs/cgroup/memory.max":               "8192\n",
			"sys/fs/cgroup/memory/memory.limit_in_b": "1\n",
		}, 4096},
		{"version 2 in a container that does not see its group", map[string]string{
			"proc/self/cgroup":         "0::/../../x\n",
			"sys/fs/cgroup/memory.max": "12345\n",
		}, 12345},
		{"version 2 without a limit", map[string]string{
			"proc/self/cgroup":         "0::/\n",
			"sys/fs/cgroup/memory.max": "max\n",
		}, 0},
		{"version 1 beside version 2", map[string]string{
			"proc/self/cgroup": "9:cpu,cpuacct:/x\n8:hugetlb,memory:/job/1\n0::/\n",
			"sys/fs/cgroup/memory/job/1/memory.limit_in_bytes":  "9223372036854771712\n",
			"sys/fs/cgroup/memory/job/memory.limit_in_bytes":    "777\n",
			"sys/fs/cgroup/cpu,cpuacct/x/memory.limit_in_bytes": "1\n",
		}, 777},
		{"a broken file", map[string]string{"proc/self/cgroup": "0\n::\n", "sys/fs/cgroup/memory.max": "5\n"}, 0},
	} {
		files := fstest.MapFS{}
		for name, text := range c.files {
			files[name] = &fstest.MapFile{Data: []byte(text)}
		}
		if got := cgroupLimit(files); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// resident returns the memory of the process for which the system has pages.
func resident(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}

// TestZerosNeedNoPages makes a large buffer, of which only a part is written. It does so in a new process: Go clears memory that earlier tests
// have used.
func TestZerosNeedNoPages(t *testing.T) {
	if inChild(t) {
		return
	}
	dev, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	s, err := dev.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	const size = 512 << 20
	before := resident(t)
	b, err := device.Make[byte](s, size)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if err := device.UploadTo(s, b.Slice(0, 1), []byte{1}); err != nil {
		t.Fatal(err)
	}
	if after := resident(t); after-before > size/8 {
		t.Errorf("a buffer of %d bytes, of which one is written, needs %d bytes", size, after-before)
	}
}

// TestAddressSpace allocates until it fails in a process with little address space.
func TestAddressSpace(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector needs terabytes of address space")
	}
	if !inChild(t) {
		allocateAll(t)
	}
}

const childVariable = "GOPHERWARP_TEST_CHILD"

// inChild runs the test in a process of its own and returns true, or returns false in that process.
func inChild(t *testing.T) bool {
	t.Helper()
	if os.Getenv(childVariable) != "" {
		return false
	}
	child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	child.Env = append(os.Environ(), childVariable+"=1")
	out, err := child.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "PASS") {
		t.Errorf("%v\n%s", err, out)
	}
	return true
}

func allocateAll(t *testing.T) {
	const space = 3 << 30
	if err := unix.Setrlimit(unix.RLIMIT_AS, &unix.Rlimit{Cur: space, Max: space}); err != nil {
		t.Skipf("limits cannot be set: %v", err)
	}
	if _, memory := host(); memory > space {
		t.Errorf("the device has %d bytes, the process %d", memory, space)
	}
	dev, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	s, err := dev.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := device.MakeDirty[byte](s, 10<<30); !errors.Is(err, device.ErrMemory) {
		t.Errorf("10 GiB: %v", err)
	}
	_ = s.Synchronize(context.Background())
	made := 0
	for range 100 {
		b, err := device.MakeDirty[byte](s, 256<<20)
		if errors.Is(err, device.ErrMemory) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		made++
		defer b.Close()
	}
	if made == 0 || made == 100 {
		t.Errorf("%d buffers of 256 MiB were allocated", made)
	}
}
