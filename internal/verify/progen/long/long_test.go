package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
)

// asCommand, set in the environment, makes the test binary the command itself, and so its workers.
const asCommand = "GOPHERWARP_TEST_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestMissing(t *testing.T) {
	list := []batch{{span: span{10, 20}}, {span: span{0, 5}}, {span: span{15, 30}}}
	for _, test := range []struct {
		all  span
		want []span
	}{
		{span{0, 40}, []span{{5, 10}, {30, 40}}},
		{span{0, 30}, []span{{5, 10}}},
		{span{12, 18}, nil},
		{span{3, 7}, []span{{5, 7}}},
		{span{50, 60}, []span{{50, 60}}},
	} {
		if got := missing(test.all, list); !reflect.DeepEqual(got, test.want) && len(got)+len(test.want) > 0 {
			t.Errorf("missing of %v: %v, want %v", test.all, got, test.want)
		}
	}
}

func TestPart(t *testing.T) {
	next := 7
	for _, text := range []string{"1/3", "2/3", "3/3"} {
		r := run{first: 7, n: 100}
		if err := r.part(text); err != nil {
			t.Fatal(err)
		}
		if r.first != next {
			t.Errorf("part %s begins at %d, want %d", text, r.first, next)
		}
		next = r.first + r.n
	}
	if next != 107 {
		t.Errorf("the parts end at %d, want 107", next)
	}
	for _, text := range []string{"0/3", "4/3", "x", ""} {
		if err := new(run).part(text); err == nil {
			t.Errorf("part %q is accepted", text)
		}
	}
}

// TestQueue has an order cut in two by its worker, while another waits.
func TestQueue(t *testing.T) {
	q := newQueue([]span{{0, 4}, {6, 7}}, 4)
	a, _ := q.next()
	b, _ := q.next()
	if a != (span{0, 4}) || b != (span{6, 7}) {
		t.Fatalf("%v %v", a, b)
	}
	q.done()
	waiting := make(chan span)
	go func() { s, _ := q.next(); waiting <- s }()
	q.done(span{0, 2}, span{2, 4})
	one := <-waiting
	two, ok := q.next()
	if one.len() != 2 || two.len() != 2 || one == two || !ok {
		t.Errorf("%v %v", one, two)
	}
	q.done()
	q.done()
	if s, ok := q.next(); ok {
		t.Errorf("%v is left", s)
	}
}

// TestStop lets one kernel differ, after which a run with -stop starts no batch.
func TestStop(t *testing.T) {
	for _, stop := range []bool{false, true} {
		report, err := os.Create(filepath.Join(t.TempDir(), "report"))
		if err != nil {
			t.Fatal(err)
		}
		defer report.Close()
		p := &progress{run: &run{stop: stop}, queue: newQueue([]span{{250, 500}}, 250), report: report}
		p.write(span{0, 125}, outcome{})
		p.write(span{125, 250}, outcome{Wrong: map[int]string{130: "different"}})
		if _, ok := p.queue.next(); ok == stop {
			t.Errorf("-stop=%v: another batch starts: %v", stop, ok)
		}
	}
}

func TestSummary(t *testing.T) {
	dir := t.TempDir()
	tk := task{Seed: 3, Contracted: true}
	one, two := filepath.Join(dir, "1"), filepath.Join(dir, "2")
	b := batch{mode: "contracted", seed: 3, faulted: 1, twins: 2, onGPU: 3, seconds: 1.5}
	b.span = span{0, 10}
	write(t, one, "something\n"+b.String())
	b.span, b.differ = span{15, 20}, 1
	write(t, two, b.String()+tk.difference(17, "not this\nbut that"))
	var out strings.Builder
	if err := summary(&out, []string{one, two}); !errors.Is(err, errDiffer) {
		t.Errorf("a difference is %v", err)
	}
	want := `contracted seed 3: 15 kernels (0 to 20): 2 faulted as they should, 4 ran as twins, 6 on a GPU, 1 differ; 3s of workers, 0.200 s a kernel; missing: [{10 15}]
DIFFERS contracted seed 3 kernel 17: not this: go test ./internal/verify/progen -run=TestRandomKernels -seed=3 -first=17 -kernels=1 -contract -shrink
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

func write(t *testing.T, name, text string) {
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestLong runs two parts, one of them in two goes, and sums up.
func TestLong(t *testing.T) {
	if !sweep.Whole() {
		t.Skip("compiles kernels, as other tests do: runs in sweeps")
	}
	dir := t.TempDir()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	start := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(program, args...)
		cmd.Dir = "../../../.."
		cmd.Env = append(os.Environ(), asCommand+"=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", cmd, err, out)
		}
		return string(out)
	}
	one, two := filepath.Join(dir, "1"), filepath.Join(dir, "2")
	start("-n", "2", "-j", "1", "-report", one)
	start("-n", "6", "-part", "1/2", "-batch", "2", "-j", "2", "-report", one)
	start("-n", "6", "-part", "2/2", "-batch", "2", "-j", "2", "-report", two)
	out := start("-sum", one, two)
	if !strings.HasPrefix(out, "native seed 1: 6 kernels (0 to 6): ") || !strings.Contains(out, ", 0 differ;") || strings.Contains(out, "missing") {
		t.Error(out)
	}
}
