package compare

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/verify/progen"
)

var gpu = flag.Bool("gpu", false, "run the kernels that once differed on a GPU, too")

// mathematics calls functions of package math that amd64 has in assembly, whose last bits are others.
const mathematics = `
//gpu:kernel
func k1_(t gpu.Thread, first int, out []float64) {
	id := t.GlobalX() + first
	x := float64(id)*0.37 - 3
	out[id] = math.Tanh(x)
	out[id+64] = math.Exp(x)
	out[id+128] = math.Log(float64(id) + 0.7)
	out[id+192] = math.Hypot(x, 1.3)
}
`

// singles has a barrier, and functions of package math32 that begin with an approximate instruction on a GPU. Their results
// are the same there.
const singles = `
//gpu:kernel
func k2_(t gpu.Thread, first int, out []float32) {
	id, lane := t.GlobalX()+first, t.ThreadX()
	shared := gpu.Shared[[32]float32](t)
	x := float32(id)*0.37 - 3
	shared[lane] = math32.Hypot(x, 1.3) + math32.Atan(x)
	t.Sync()
	out[id] = shared[31-lane]
	out[id+64] = math32.Rsqrt(x)
	out[id+128] = math32.Asin(x/30)
}
`

// TestMathematics has Go's own compiler take the functions of package math that are in Go. Package math32 has no others.
func TestMathematics(t *testing.T) {
	c, err := New("../../../..", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	k := progen.Kernel{
		Name: "k1_", Source: mathematics, Blocks: [2]int{2, 1}, Threads: [2]int{32, 1},
		Args: []progen.Arg{{Type: "float64", Layout: "float64", Len: 256}},
	}
	k32 := progen.Kernel{
		Name: "k2_", Source: singles, Blocks: [2]int{2, 1}, Threads: [2]int{32, 1}, Barriers: true,
		Args: []progen.Arg{{Type: "float32", Layout: "float32", Len: 192}},
	}
	r, err := c.Kernels(t.Context(), []progen.Kernel{k, k32})
	if err != nil {
		t.Fatal(err)
	}
	for i, how := range r.Wrong {
		if how != "" || r.Results[i].Fault != "" {
			t.Error(how, r.Results[i].Fault)
		}
	}
	if r.Twins != 2 {
		t.Errorf("%d kernels ran as twins, want 2", r.Twins)
	}
}

// TestFixedBugs runs kernels that once differed. Their names are all different.
func TestFixedBugs(t *testing.T) {
	files, err := filepath.Glob("testdata/fixedbugs/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	var list []progen.Kernel
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		k, err := Parse(string(text))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		list = append(list, k)
	}
	var o Options
	if *gpu {
		o.GPU = replay(t)
	}
	c, err := New("../../../..", o)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r, err := c.Kernels(t.Context(), list)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d kernels, %d have twins, %d on a GPU: %q", len(list), r.Twins, r.OnGPU, r.Device)
	if r.Twins < len(list)/2 {
		t.Errorf("%d of %d kernels ran as twins", r.Twins, len(list))
	}
	for i, how := range r.Wrong {
		if how != "" {
			t.Errorf("%s: %s", files[i], how)
		}
	}
}

// replay builds the program that runs kernels on a GPU.
func replay(t *testing.T) string {
	name := filepath.Join(t.TempDir(), "replay.exe")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", name, "../replay")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", build, err, out)
	}
	return name
}
