package trace_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/google/pprof/profile"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/trace"
)

// negate is a kernel without parameters that keeps the device busy.
var negate = &driver.Kernel{
	Name: "negate", Package: "example.com/kernels", File: "negate.go", Line: 7, ParamBytes: driver.HiddenBytes,
	Native: func(ts *gpu.Threads, _ unsafe.Pointer) {
		for ts.Next() {
			_ = ts.Thread()
		}
	},
}

// work uploads 4096 bytes, launches negate three times, and downloads the bytes.
func work(t *testing.T, dev *device.Device) {
	t.Helper()
	s, err := dev.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	host := make([]float32, 1024)
	b, err := device.Upload(s, host)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := s.Plan(negate, device.Cover(1024, 256)).Launch(); err != nil {
			t.Fatal(err)
		}
	}
	if err := device.Download(s, host, b); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T) *device.Device {
	t.Helper()
	dev, err := cpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	return dev
}

func TestTimeline(t *testing.T) {
	dev, timeline := open(t), trace.NewTimeline()
	stop, err := dev.Watch(timeline)
	if err != nil {
		t.Fatal(err)
	}
	work(t, dev)
	stop()
	work(t, dev) // not watched
	var out bytes.Buffer
	if err := timeline.Write(&out); err != nil {
		t.Fatal(err)
	}
	var events []struct {
		Ph, Name, Cat string
		Pid, Tid      int
		Ts, Dur       float64
		Args          map[string]any
	}
	if err := json.Unmarshal(out.Bytes(), &events); err != nil {
		t.Fatal(err)
	}
	var done []string
	end := math.Inf(-1)
	for _, e := range events {
		if e.Ph != "X" || e.Pid != 2 {
			continue
		}
		done = append(done, e.Name)
		if e.Ts < end-0.0005 { // half a nanosecond for rounding
			t.Errorf("%s begins at %v, before the work ahead of it ended at %v", e.Name, e.Ts, end)
		}
		end = e.Ts + e.Dur
		if at, _ := e.Args["called at"].(string); !strings.HasPrefix(at, "trace_test.go:") {
			t.Errorf("%s was called at %q, want a line of this file", e.Name, at)
		}
		if e.Name == "negate" && e.Args["kernel"] != "example.com/kernels.negate at negate.go:7" {
			t.Errorf("the kernel is %q", e.Args["kernel"])
		}
		if e.Name == "upload" && e.Args["bytes"] != 4096.0 {
			t.Errorf("an upload of %v bytes, want 4096", e.Args["bytes"])
		}
	}
	if got, want := strings.Join(done, " "), "upload negate negate negate download"; got != want {
		t.Errorf("the timeline shows %q, want %q", got, want)
	}
}

// TestLoading tests that the timeline shows the loading of a kernel before its launch if it took
// long.
func TestLoading(t *testing.T) {
	timeline, at := trace.NewTimeline(), time.Now()
	a := device.Activity{Device: open(t), Stream: 1, Kernel: negate, Called: at, Begin: at, End: at.Add(time.Microsecond)}
	for _, a.Load = range []time.Duration{30 * time.Millisecond, time.Microsecond} {
		timeline.Did([]device.Activity{a})
	}
	var out bytes.Buffer
	if err := timeline.Write(&out); err != nil {
		t.Fatal(err)
	}
	const want = `{"ph":"X","name":"load negate","cat":"load","pid":1,"tid":1,"ts":0,"dur":30000}`
	if n := strings.Count(out.String(), "load negate"); n != 1 || !strings.Contains(out.String(), want) {
		t.Errorf("%d loads, want one like %s:\n%s", n, want, &out)
	}
}

func TestProfile(t *testing.T) {
	dev, p := open(t), trace.NewProfile()
	if _, err := dev.Watch(p); err != nil {
		t.Fatal(err)
	}
	work(t, dev)
	var out bytes.Buffer
	if err := p.Write(&out); err != nil {
		t.Fatal(err)
	}
	read, err := profile.Parse(&out)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int64{}
	for _, s := range read.Sample {
		leaf := s.Location[0].Line[0]
		counts[leaf.Function.Name] += s.Value[0]
		if s.Value[2] <= 0 {
			t.Errorf("%s took %d ns", leaf.Function.Name, s.Value[2])
		}
		if caller := s.Location[1].Line[0].Function.Name; !strings.HasSuffix(caller, "trace_test.work") {
			t.Errorf("%s was called by %s, want the function work of this test", leaf.Function.Name, caller)
		}
	}
	if len(read.Mapping) != 1 || !strings.Contains(read.Mapping[0].File, "trace") {
		t.Errorf("the profile is of %+v, want this program", read.Mapping)
	}
	var types string
	for _, v := range append(read.SampleType, read.PeriodType) {
		types += v.Type + " in " + v.Unit + ", "
	}
	if types += read.DefaultSampleType; types != "work in count, bytes in bytes, device in nanoseconds, device in nanoseconds, device" || read.Period != 1 {
		t.Errorf("the values are %s, with period %d", types, read.Period)
	}
	if at := time.Unix(0, read.TimeNanos); time.Since(at) < 0 || time.Since(at) > time.Minute || read.DurationNanos <= 0 {
		t.Errorf("the profile begins at %v and covers %d ns", at, read.DurationNanos)
	}
	for name, want := range map[string]int64{"example.com/kernels.negate": 3, "(upload)": 1, "(download)": 1} {
		if counts[name] != want {
			t.Errorf("%s occurs %d times, want %d", name, counts[name], want)
		}
	}
	if err := read.CheckValid(); err != nil {
		t.Error(err)
	}
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	timeline, stacks := filepath.Join(dir, "t.json"), filepath.Join(dir, "p.pb.gz")
	f, err := trace.NewFiles(timeline, stacks)
	if err != nil {
		t.Fatal(err)
	}
	dev := open(t)
	if _, err := dev.Watch(f); err != nil {
		t.Fatal(err)
	}
	work(t, dev)
	if err := dev.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(timeline)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(text, []byte(`"name":"negate","cat":"launch"`)); n != 3 || !json.Valid(text) {
		t.Errorf("the timeline shows %d launches, want 3; valid JSON: %v", n, json.Valid(text))
	}
	data, err := os.Open(stacks)
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	if read, err := profile.Parse(data); err != nil || len(read.Sample) != 3 {
		t.Errorf("the profile has %v samples (%v), want 3", read, err)
	}
	missing := filepath.Join(dir, "missing", "x")
	if _, err := trace.NewFiles(missing, ""); !errors.Is(err, fs.ErrNotExist) || err.Error() != "trace: "+missing+": no such file or directory" && runtime.GOOS != "windows" {
		t.Errorf("a file in a folder that does not exist: %v", err)
	}
}

// TestFilesKeepNothing watches so much work that keeping it would show, in memory and in the bytes that are written.
func TestFilesKeepNothing(t *testing.T) {
	name := filepath.Join(t.TempDir(), "t.json")
	f, err := trace.NewFiles(name, "")
	if err != nil {
		t.Fatal(err)
	}
	dev, at := open(t), time.Now()
	batch := make([]device.Activity, 1000)
	for i := range batch {
		batch[i] = device.Activity{Device: dev, Stream: 1, Kernel: negate, Called: at, Begin: at, End: at.Add(time.Microsecond)}
	}
	const batches = 50
	before := heap()
	for range batches {
		f.Did(batch)
	}
	if grown := heap() - before; grown > 8<<20 {
		t.Errorf("the heap has grown by %d KiB", grown>>10)
	}
	readEvents(t, name)
	if err := f.Closed(); err != nil {
		t.Fatal(err)
	}
	if n := readEvents(t, name); n != 4+4*batches*len(batch) { // names of two rows and processes, and four events each
		t.Errorf("%d events", n)
	}
}

// heap returns the bytes of the heap that are in use.
func heap() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// readEvents returns the number of events in a timeline, which is complete whenever it is read.
func readEvents(t *testing.T, name string) int {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var events []json.RawMessage
	if err := json.Unmarshal(text, &events); err != nil {
		t.Fatal(err)
	}
	return len(events)
}

// TestFilesReplaceLinks puts links to another file where the files go, as another user of the folder could.
func TestFilesReplaceLinks(t *testing.T) {
	dir := t.TempDir()
	victim := filepath.Join(dir, "victim")
	if err := os.WriteFile(victim, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	timeline, stacks := filepath.Join(dir, "t.json"), filepath.Join(dir, "p.pb.gz")
	for _, link := range []string{timeline, stacks, timeline + ".new", stacks + ".new"} {
		if err := os.Symlink(victim, link); err != nil {
			t.Skipf("no links here: %v", err)
		}
	}
	f, err := trace.NewFiles(timeline, stacks)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Closed(); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(victim); err != nil || string(text) != "precious" {
		t.Errorf("the file that links lead to has %q, %v", text, err)
	}
	if n := readEvents(t, timeline); n != 0 {
		t.Errorf("%d events", n)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 5 {
		t.Errorf("the folder has %v, %v", entries, err)
	}
}
