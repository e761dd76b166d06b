package main

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/train/finetune"
	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/formats"
	"github.com/gopherwarp/gopherwarp/weights/gguf"
)

// TestFinetune trains an adapter with a configuration file, plots the losses, and uses, merges and exports the adapter.
func TestFinetune(t *testing.T) {
	t.Setenv("GOPHERWARP_DEVICE", "cpu")
	folder := t.TempDir()
	model, out := llamatest.Write(t, llamatest.Options{}), filepath.Join(folder, "adapter")
	in := func(name string) string { return filepath.Join(folder, name) }
	write := func(name, text string) {
		if err := os.WriteFile(in(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("train.jsonl", strings.Repeat(`{"prompt": "a", "completion": "b"}`+"\n", 8))
	write("config.yaml", "# small\nmodel: "+model+"\ndata: ["+in("train.jsonl")+"]\nrank: 2\nlr: 0.05\nlength: 8\nmodules: [q_proj, up_proj]\n")
	for _, x := range []struct {
		args []string
		want string
	}{
		{[]string{"finetune", in("config.yaml"), "-out", out, "-steps=3", "-plot", in("losses.svg")}, "step 3 of 3  loss "},
		{[]string{"adapter", "info", out}, "modules: q_proj up_proj\n4 layers, "},
		{[]string{"adapter", "merge", "-model", model, "-out", in("merged.gguf"), out}, ""},
		{[]string{"adapter", "export", "-model", model, "-out", in("adapter.gguf"), out}, ""},
		{[]string{"generate", "-model", model, "-adapter", out, "-raw", "-max-tokens=2", "a"}, ""},
		{[]string{"generate", "-model", in("merged.gguf"), "-raw", "-max-tokens=2", "a"}, ""},
	} {
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), x.args, terminal{&stdout, &stderr}); code != exitOK || !strings.Contains(stdout.String(), x.want) {
			t.Fatalf("%q: exit code %d, want %q in\n%s\n%s", x.args, code, x.want, &stdout, &stderr)
		}
	}
	if text, err := os.ReadFile(in("losses.svg")); err != nil || !strings.HasPrefix(string(text), "<svg ") || strings.Count(string(text), "<polyline") != 1 {
		t.Errorf("the plot is %q, %v", text, err)
	}
	f, err := formats.Open(in("adapter.gguf"))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil || len(f.Tensors) != 8 {
		t.Errorf("%d tensors are exported, %v", len(f.Tensors), err)
	}
}

// TestMergeType merges an adapter into quantized matrices, and writes them in each type. The models differ little.
func TestMergeType(t *testing.T) {
	model, adapter, out := llamatest.Write(t, llamatest.Options{Matrices: weights.Q4_1}), llamatest.WriteAdapter(t, 1), filepath.Join(t.TempDir(), "merged.gguf")
	var want []float32 // of a matrix
	for _, x := range []struct {
		of        weights.Type
		tolerance float64 // of an element, as a share of the largest
	}{{weights.F16, 0}, {weights.Q8_0, .005}, {weights.Q4_1, .08}, {weights.Q4_0, .1}} {
		var stderr bytes.Buffer
		if code := run(t.Context(), []string{"adapter", "merge", "-model", model, "-out", out, "-type", x.of.String(), adapter}, terminal{io.Discard, &stderr}); code != exitOK {
			t.Fatalf("%v: exit code %d\n%s", x.of, code, &stderr)
		}
		f, err := gguf.Open(out)
		if err != nil {
			t.Fatal(err)
		}
		m, err := f.Tensor("blk.1.ffn_up.weight")
		if err != nil || m.Type() != x.of {
			t.Fatalf("%v, %v, want %v", m, err, x.of)
		}
		wide, err := gguf.Float32(m)
		if err != nil {
			t.Fatal(err)
		}
		got, err := weights.Values[float32](wide)
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
		}
		largest, worst := 0., 0.
		for i, v := range want {
			largest, worst = max(largest, math.Abs(float64(v))), max(worst, math.Abs(float64(v-got[i])))
		}
		if worst > x.tolerance*largest {
			t.Errorf("%v: %g differs by %g", x.of, largest, worst)
		}
	}
	folder := llamatest.WriteFolder(t, llamatest.FolderOptions{Architecture: "LlamaForCausalLM"})
	var stderr bytes.Buffer
	if code := run(t.Context(), []string{"adapter", "merge", "-model", folder, "-out", out, "-type=Q8_0", adapter}, terminal{io.Discard, &stderr}); code != exitUsage || !strings.Contains(stderr.String(), "-type is for GGUF files") {
		t.Errorf("a folder: exit code %d\n%s", code, &stderr)
	}
}

// TestFinetunePlan shows the memory of a training before its first step.
func TestFinetunePlan(t *testing.T) {
	t.Setenv("GOPHERWARP_DEVICE", "cpu")
	data := filepath.Join(t.TempDir(), "train.jsonl")
	if err := os.WriteFile(data, []byte(`{"prompt": "a", "completion": "b"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	args := []string{"finetune", "-model", llamatest.Write(t, llamatest.Options{}), "-data", data, "-out", filepath.Join(t.TempDir(), "out"), "-length=8", "-recompute=mlp"}
	if code := run(t.Context(), args, terminal{&stdout, &stderr}); code != exitOK {
		t.Fatalf("exit code %d\n%s", code, &stderr)
	}
	for _, want := range []string{"\nmemory:\nweights  ", "\ntotal  ", " MiB\n", "\ncomputed again: MLPs of 2 of 2 layers\n"} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("no %q in\n%s", want, &stderr)
		}
	}
}

// TestFinetuneTruncate reports texts of which nothing to learn remains, and counts only tokens that are predicted.
func TestFinetuneTruncate(t *testing.T) {
	t.Setenv("GOPHERWARP_DEVICE", "cpu")
	data := filepath.Join(t.TempDir(), "train.jsonl")
	long := `{"prompt": "abcdefgh", "completion": "i"}` + "\n"
	if err := os.WriteFile(data, []byte(`{"text": "abc"}`+"\n"+strings.Repeat(long, 12)), 0o600); err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	args := []string{"finetune", "-model", llamatest.Write(t, llamatest.Options{}), "-data", data, "-out", filepath.Join(t.TempDir(), "out"), "-length=8", "-truncate", "-steps=1"}
	if code := run(t.Context(), args, terminal{io.Discard, &stderr}); code != exitOK {
		t.Fatalf("exit code %d\n%s", code, &stderr)
	}
	for _, want := range []string{
		"1 texts of 4 tokens, of which 3 are learned; ", "\ndropped texts with nothing to learn: 12\n",
		data + ":2: text: nothing to learn among its 8 tokens", data + ":11: ", "\nand 2 more\n",
	} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("no %q in\n%s", want, &stderr)
		}
	}
}

// TestFinetuneTerminated sends SIGTERM after the first step of a training, which then writes a checkpoint and can be resumed.
func TestFinetuneTerminated(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no SIGTERM")
	}
	t.Setenv("GOPHERWARP_DEVICE", "cpu")
	data, out := filepath.Join(t.TempDir(), "train.jsonl"), filepath.Join(t.TempDir(), "adapter")
	if err := os.WriteFile(data, []byte(strings.Repeat(`{"prompt": "a", "completion": "b"}`+"\n", 8)), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"finetune", "-model", llamatest.Write(t, llamatest.Options{}), "-data", data, "-out", out, "-length=8", "-epochs=10000"}
	r, w := io.Pipe()
	ended := make(chan int, 1)
	var stderr bytes.Buffer
	go func() {
		ended <- run(t.Context(), args, terminal{w, &stderr})
		w.Close()
	}()
	if line, err := bufio.NewReader(r).ReadString('\n'); err != nil || !strings.HasPrefix(line, "step 1 of ") {
		t.Fatalf("the first line is %q, %v", line, err)
	}
	go func() { _, _ = io.Copy(io.Discard, r) }()
	if self, err := os.FindProcess(os.Getpid()); err != nil || self.Signal(syscall.SIGTERM) != nil {
		t.Fatalf("no SIGTERM: %v", err)
	}
	if code := <-ended; code != exitFailed || !strings.Contains(stderr.String(), "stopped after step ") {
		t.Errorf("exit code %d:\n%s", code, &stderr)
	}
	if list, err := filepath.Glob(filepath.Join(out, "checkpoints", "step-*")); err != nil || len(list) != 1 {
		t.Fatalf("checkpoints %v, %v", list, err)
	}
	stderr.Reset()
	if code := run(t.Context(), append(args, "-resume", "-steps=1"), terminal{io.Discard, &stderr}); code != exitOK || !strings.Contains(stderr.String(), "continuing after step ") {
		t.Errorf("resumed: exit code %d:\n%s", code, &stderr)
	}
}

// TestExport compares a merged model with an exported adapter: the Python package gguf reads both, and the same bytes of each tensor as package gguf. The environment variable GOPHERWARP_PYTHON names
// another interpreter than python3.
func TestExport(t *testing.T) {
	python := cmp.Or(os.Getenv("GOPHERWARP_PYTHON"), "python3")
	if out, err := exec.CommandContext(t.Context(), python, "-c", "import gguf, numpy").CombinedOutput(); err != nil {
		t.Skipf("%s cannot import gguf and numpy: %v\n%s", python, err, out)
	}
	t.Setenv("GOPHERWARP_DEVICE", "cpu")
	folder := t.TempDir()
	in := func(name string) string { return filepath.Join(folder, name) }
	model := llamatest.Write(t, llamatest.Options{})
	if err := os.WriteFile(in("train.jsonl"), []byte(strings.Repeat(`{"prompt": "a", "completion": "b"}`+"\n", 8)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"finetune", "-model", model, "-data", in("train.jsonl"), "-out", in("adapter"), "-rank=3", "-alpha=5", "-rslora", "-lr=0.05", "-length=8"},
		{"adapter", "merge", "-model", model, "-out", in("merged.gguf"), in("adapter")},
		{"adapter", "export", "-model", model, "-out", in("adapter.gguf"), in("adapter")},
	} {
		var stderr bytes.Buffer
		if code := run(t.Context(), args, terminal{io.Discard, &stderr}); code != exitOK {
			t.Fatalf("%q: exit code %d\n%s", args, code, &stderr)
		}
	}
	out, err := exec.CommandContext(t.Context(), python, "testdata/adapter.py", model, in("adapter.gguf"), in("merged.gguf")).CombinedOutput()
	want := fmt.Sprintf("%d matrices\n%s", 7*llamatest.Layers, sums(t, in("merged.gguf")))
	if err != nil || string(out) != want {
		t.Errorf("%v: %s, want %s", err, out, want)
	}
}

// sums returns a line with the name and the SHA-256 of each tensor of a file.
func sums(t *testing.T, name string) (lines string) {
	t.Helper()
	f, err := formats.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range f.Tensors {
		data := make([]byte, x.Size())
		if _, err := x.ReadAt(data, 0); err != nil {
			t.Fatal(err)
		}
		lines += fmt.Sprintf("%s %x\n", x.Name(), sha256.Sum256(data))
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return lines
}

// TestFinetuneMethods trains all parameters of a model, and an adapter with preferences, and generates with the results.
func TestFinetuneMethods(t *testing.T) {
	t.Setenv("GOPHERWARP_DEVICE", "cpu")
	folder := t.TempDir()
	in := func(name string) string { return filepath.Join(folder, name) }
	model := llamatest.WriteFolder(t, llamatest.FolderOptions{Architecture: "LlamaForCausalLM"})
	for name, line := range map[string]string{"train.jsonl": `{"prompt": "a", "completion": "b"}`, "pairs.jsonl": `{"prompt": "a", "chosen": "b", "rejected": "c"}`} {
		if err := os.WriteFile(in(name), []byte(line+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, x := range []struct {
		args []string
		want string
	}{
		{[]string{"finetune", "-model", model, "-data", in("train.jsonl"), "-out", in("full"), "-method=full", "-length=8", "-tensorboard", in("logs")}, "step 1 of 1  loss "},
		{[]string{"finetune", "-model", model, "-data", in("train.jsonl"), "-out", in("half"), "-precision=fp16", "-optimizer=adamw_8bit", "-recompute=layers", "-length=8"}, "step 1 of 1  loss "},
		{[]string{"finetune", "-model", model, "-data", in("train.jsonl"), "-out", in("two"), "-devices=cpu,cpu", "-length=8", "-epochs=2"}, "step 2 of 2  loss "},
		{[]string{"generate", "-model", in("full"), "-raw", "-max-tokens=2", "a"}, ""},
		{[]string{"finetune", "-model", model, "-data", in("pairs.jsonl"), "-out", in("dpo"), "-dpo", "-beta=0.2", "-dora", "-dropout=0.1", "-length=8"}, "loss 0.6931  accuracy "},
		{[]string{"adapter", "info", in("dpo")}, "DoRA, rank 16"},
		{[]string{"generate", "-model", model, "-adapter", in("dpo"), "-raw", "-max-tokens=2", "a"}, ""},
		{[]string{"adapter", "merge", "-model", model, "-out", in("merged"), in("dpo")}, ""},
		{[]string{"generate", "-model", in("merged"), "-raw", "-max-tokens=2", "a"}, ""},
	} {
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), x.args, terminal{&stdout, &stderr}); code != exitOK || !strings.Contains(stdout.String(), x.want) {
			t.Fatalf("%q: exit code %d, want %q in\n%s\n%s", x.args, code, x.want, &stdout, &stderr)
		}
	}
	if logs, err := filepath.Glob(in("logs/events.out.tfevents.*")); err != nil || len(logs) != 1 {
		t.Errorf("event files %v, %v", logs, err)
	}
}

func TestFinetuneErrors(t *testing.T) {
	t.Setenv("GOPHERWARP_DEVICE", "cpu")
	config, data := filepath.Join(t.TempDir(), "config.yaml"), filepath.Join(t.TempDir(), "train.jsonl")
	wrong := filepath.Join(t.TempDir(), "wrong.yaml")
	lines := `{"text": "a"}` + "\n" + `{"text": 1}` + "\n" + `{"text": "abcdefghij"}` + "\n"
	if err := errors.Join(os.WriteFile(config, []byte("ranks: 3\n"), 0o600), os.WriteFile(data, []byte(lines), 0o600), os.WriteFile(wrong, []byte("lr: abc\ndata: x\nseed: 1\nseed: 2\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	texts := []string{"finetune", "-model", llamatest.Write(t, llamatest.Options{}), "-data", data, "-out", filepath.Join(t.TempDir(), "out"), "-length=8"}
	for _, x := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"finetune", config}, exitUsage, config + ":1: there is no key \"ranks\""},
		{[]string{"finetune", config + "x"}, exitUsage, "no such file"},
		{[]string{"finetune", "-rank=2"}, exitFailed, "data is needed"},
		{[]string{"finetune", "-model=m", "-data=d", "-out=o", "-method=full", "-dora"}, exitFailed, "need the method lora"},
		{[]string{"finetune", "-model=m", "-data=d", "-out=o", "-devices=cpu,gpu"}, exitFailed, `is "gpu"`},
		{[]string{"finetune", wrong}, exitUsage, wrong + ":1: lr is \"abc\"; want a number\n" + wrong + ":2: data is \"x\"; want a list, such as [a, b]\n" + wrong + ":4: seed is also in line 3\n"},
		{append(texts, "-plot", filepath.Join(t.TempDir(), "none", "x.svg")), exitUsage, "x.svg cannot be written"},
		{texts, exitFailed, data + ":2: text: invalid line: text is of type number; want a string"}, {texts, exitFailed, data + ":3: "},
		{[]string{"adapter", "info", t.TempDir()}, exitFailed, "adapter_config.json"},
	} {
		var stderr bytes.Buffer
		if code := run(t.Context(), x.args, terminal{io.Discard, &stderr}); code != x.code || !strings.Contains(stderr.String(), x.want) {
			t.Errorf("%q: exit code %d, want %d with %q:\n%s", x.args, code, x.code, x.want, &stderr)
		}
	}
}

// TestAdapterReplaces says that the commands for adapters refuse to replace the model or the adapter, whose files stay.
func TestAdapterReplaces(t *testing.T) {
	t.Setenv("GOPHERWARP_DEVICE", "cpu")
	folder := t.TempDir()
	in := func(name string) string { return filepath.Join(folder, name) }
	if err := os.WriteFile(in("train.jsonl"), []byte(`{"prompt": "a", "completion": "b"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	file, models := llamatest.Write(t, llamatest.Options{}), llamatest.WriteFolder(t, llamatest.FolderOptions{Architecture: "LlamaForCausalLM"})
	if err := errors.Join(os.Symlink(file, in("link.gguf")), os.Symlink(models, in("link")), os.Link(file, in("hard.gguf"))); err != nil {
		t.Skip(err)
	}
	var stderr bytes.Buffer
	if code := run(t.Context(), []string{"finetune", "-model", file, "-data", in("train.jsonl"), "-out", in("adapter"), "-length=8"}, terminal{io.Discard, &stderr}); code != exitOK {
		t.Fatalf("exit code %d\n%s", code, &stderr)
	}
	adapter := filepath.Join(in("adapter"), "adapter_model.safetensors")
	kept := []string{file, adapter, filepath.Join(models, "model.safetensors")}
	var before [][]byte
	for _, name := range kept {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		before = append(before, data)
	}
	for _, x := range []struct{ command, model, out, want string }{
		{"merge", file, file, "would replace the model"}, {"merge", file, in("link.gguf"), "would replace the model"}, {"merge", in("link.gguf"), file, "would replace the model"},
		{"merge", file, in("hard.gguf"), "would replace the model"}, {"export", file, file, "would replace the model"}, {"export", file, adapter, "would replace the adapter"},
		{"merge", models, models, "would replace the model"}, {"merge", models, in("link"), "would replace the model"},
		{"merge", filepath.Join(models, "model.safetensors"), models, "would replace the model"},
	} {
		stderr.Reset()
		if code := run(t.Context(), []string{"adapter", x.command, "-model", x.model, "-out", x.out, in("adapter")}, terminal{io.Discard, &stderr}); code != exitFailed || !strings.Contains(stderr.String(), x.want) {
			t.Errorf("%v: exit code %d\n%s", x, code, &stderr)
		}
	}
	for i, name := range kept {
		if data, err := os.ReadFile(name); err != nil || !bytes.Equal(data, before[i]) {
			t.Errorf("%s has changed, %v", name, err)
		}
	}
}

// TestFinetuneFlags says that flags take precedence over the configuration file, also flags that are 0 or false, and what a value of 0 means.
func TestFinetuneFlags(t *testing.T) {
	name := filepath.Join(t.TempDir(), "config.yaml")
	lines := "dropout: 0.5\nwarmup: 2\ndora: true\nrslora: true\nseed: 7\ndecay: 0.3\nsteps: 3\nsave: 1\npatience: 2\nclip: 0.5\nlr: 0.1\nzero: 1\nresume: true\nprecision: fp16\nrank: 4\nkeep:\n"
	full := finetune.Config{Dropout: 0.5, WarmUp: 2, DoRA: true, RankStabilized: true, Seed: 7, Decay: 0.3, Steps: 3, Save: 1, Patience: 2, Clip: 0.5, Rate: 0.1, Zero: 1,
		Resume: true, Precision: "fp16", Rank: 4}
	configOf := func(lines string, args ...string) (finetune.Config, error) {
		if err := os.WriteFile(name, []byte(lines), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := newParser(&commands{}).Parse(append([]string{"finetune", name}, args...))
		if err != nil {
			t.Fatal(err)
		}
		return c.Target().(*finetuneCommand).config()
	}
	zeros := []string{"-dropout", "0", "-warmup=0", "-dora=false", "-rslora=no", "-seed", "0", "-decay=0", "-steps=0", "-save=0", "-patience=0", "-clip=0", "-zero=0", "-resume=false", "-precision="}
	for _, x := range []struct {
		lines string
		args  []string
		want  finetune.Config
	}{
		{lines, nil, full},
		{lines, zeros, finetune.Config{Clip: -1, Rate: 0.1, Rank: 4}},
		{"clip: 0\ndata: [a, b]", []string{"-data=c", "-data=d,e", "-tensorboard=f", "-devices=0,1"}, finetune.Config{Clip: -1, Data: []string{"c", "d,e"}, TensorBoard: "f"}},
		{"clip: 0\nlr: 0", []string{"-clip=2", "-lr=1"}, finetune.Config{Clip: 2, Rate: 1}},
	} {
		if got, err := configOf(x.lines, x.args...); err != nil || !reflect.DeepEqual(got, x.want) {
			t.Errorf("%q: %+v, %v, want %+v", x.args, got, err, x.want)
		}
	}
	if _, err := configOf("lr: 0", "-rank=0"); err == nil || err.Error() != "lr is 0; want a positive number, or no lr for the default\nrank is 0; want a positive number, or no rank for the default" {
		t.Errorf("zeros without a meaning: %v", err)
	}
}

// TestFinetuneRanks starts two processes as torchrun does. They train together as two devices of one process do, and rank 0 alone prints the progress.
func TestFinetuneRanks(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skipf("no network: %v", err)
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err := errors.Join(err, l.Close()); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	in := func(name string) string { return filepath.Join(folder, name) }
	if err := os.WriteFile(in("train.jsonl"), []byte(strings.Repeat(`{"prompt": "a", "completion": "b"}`+"\n", 8)), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"finetune", "-model", llamatest.Write(t, llamatest.Options{}), "-data", in("train.jsonl"), "-length=8", "-steps=2", "-out"}
	var outputs [2]bytes.Buffer
	var list []*exec.Cmd
	for rank := range outputs {
		cmd := exec.CommandContext(t.Context(), self, append(args, in("ranks"))...)
		cmd.Env = append(os.Environ(), asCommand+"=1", "GOPHERWARP_DEVICE=cpu", fmt.Sprintf("RANK=%d", rank), fmt.Sprintf("LOCAL_RANK=%d", rank), "WORLD_SIZE=2",
			"MASTER_ADDR=127.0.0.1", "MASTER_PORT="+port)
		cmd.Stdout, cmd.Stderr = &outputs[rank], os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		list = append(list, cmd)
	}
	for rank, cmd := range list {
		if err := cmd.Wait(); err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
	if text := outputs[0].String(); !strings.Contains(text, "step 2 of 2  loss ") || outputs[1].Len() > 0 {
		t.Errorf("rank 0 prints %q, rank 1 %q", text, &outputs[1])
	}
	var stderr bytes.Buffer
	if code := run(t.Context(), append(args, in("devices"), "-devices=cpu,cpu"), terminal{io.Discard, &stderr}); code != exitOK {
		t.Fatalf("exit code %d:\n%s", code, &stderr)
	}
	got, err := os.ReadFile(in("ranks/adapter_model.safetensors"))
	want, failed := os.ReadFile(in("devices/adapter_model.safetensors"))
	if err := errors.Join(err, failed); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the adapter differs from that of two devices, %v", err)
	}
}
