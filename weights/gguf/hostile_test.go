package gguf_test

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/gguf"
)

// hostile is an invalid file, and a part of the error that it has.
type hostile struct {
	name string
	file raw
	want string
}

// allocated returns the bytes that f allocates. Nothing else may run.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// mayAllocate returns the memory that reading n bytes justifies: that of buffers, and a multiple of n.
func mayAllocate(n int) uint64 { return 1<<18 + 64*uint64(n) }

// check expects an error that matches weights.ErrFormat, and little memory.
func (h hostile) check(t *testing.T) {
	t.Helper()
	var err error
	used := allocated(func() { _, err = h.file.read() })
	if !errors.Is(err, weights.ErrFormat) || !strings.Contains(err.Error(), h.want) {
		t.Errorf("%s: the error is %v, want one with %q", h.name, err, h.want)
	}
	if used > mayAllocate(len(h.file)) {
		t.Errorf("%s: read %d bytes with %d bytes of memory", h.name, len(h.file), used)
	}
}

// TestCVE2024_21802 has tensors of more than four dimensions: llama.cpp wrote their sizes past the end of an array.
func TestCVE2024_21802(t *testing.T) {
	hostile{"5 dimensions", newRaw(1, 0).tensor("a", 0, 1, 1, 1, 1, 1).data(4), "5 dimensions"}.check(t)
	hostile{"2^32-1 dimensions", newRaw(1, 0).str("a").u32(math.MaxUint32).data(64), "4294967295 dimensions"}.check(t)
	hostile{"2^31 dimensions", newRaw(1, 0).str("a").u32(1 << 31).data(64), "2147483648 dimensions"}.check(t)
}

// TestCVE2025_53630 has tensors whose sizes are valid alone, but whose sum overflows: llama.cpp allocated the wrapped sum.
func TestCVE2025_53630(t *testing.T) {
	const huge = 1 << 60 // elements of 4 bytes
	r := newRaw(5, 0)
	for i, name := range []string{"a", "b", "c", "d"} {
		r = r.tensor(name, uint64(i)*huge*4, huge)
	}
	hostile{"a sum of 2^64", r.tensor("e", 0, 8).data(64), `tensor "a" has 4611686018427387904 bytes`}.check(t)
}

// TestCVE2026_27940 has numbers of tensors whose product with the size of a description overflows: a bypass of the fix of CVE-2025-53630.
func TestCVE2026_27940(t *testing.T) {
	for _, n := range []uint64{1 << 32, math.MaxUint64/368 + 1, math.MaxInt64 / 24, 1 << 63, math.MaxUint64} {
		hostile{"many tensors", newRaw(n, 0).tensor("a", 0, 8).data(64), "tensors, but only"}.check(t)
		hostile{"many entries", newRaw(0, n).data(64), "metadata entries, but only"}.check(t)
	}
}

// TestCVE2026_33298 has dimensions whose product overflows, so that a large tensor seems small.
func TestCVE2026_33298(t *testing.T) {
	hostile{"2^64 elements", newRaw(1, 0).tensor("a", 0, 1<<32, 1<<32).data(64), "overflows"}.check(t)
	hostile{"2^64+8 elements", newRaw(1, 0).tensor("a", 0, 8, 1<<61+1).data(64), "overflows"}.check(t)
	hostile{"2^64 bytes", newRaw(1, 0).tensor("a", 0, 1<<62).data(64), "overflows"}.check(t)
	hostile{"padding overflows", newRaw(1, 0).tensor("a", 0, math.MaxUint64/4).data(64), "overflows"}.check(t)
	hostile{"blocks overflow", newRaw(1, 0).typed("a", 8, 0, 1<<58, 32).data(64), "overflows"}.check(t)
	hostile{"a dimension of 2^63", newRaw(1, 0).tensor("a", 0, 1<<63).data(64), "dimension 0"}.check(t)
}

// TestCVE2026_7482 has tensors that are longer than the file: Ollama read past the end of its buffer and wrote what it found there to a
// new file.
func TestCVE2026_7482(t *testing.T) {
	hostile{"one element too many", newRaw(1, 0).tensor("a", 0, 17).data(64), "68 bytes"}.check(t)
	hostile{"an offset at the end", newRaw(1, 0).tensor("a", 64, 1).data(64), "at offset"}.check(t)
	hostile{"an offset past the end", newRaw(1, 0).tensor("a", 1<<40, 1).data(64), "at offset"}.check(t)
	hostile{"an offset that wraps", newRaw(1, 0).tensor("a", math.MaxUint64-31, 8).data(64), "beyond the end"}.check(t)
	hostile{"an offset of 2^63", newRaw(1, 0).tensor("a", 1<<63, 8).data(64), "beyond the end"}.check(t)
	hostile{"no data", newRaw(1, 0).tensor("a", 0, 1), "at offset"}.check(t)
}

// TestTruncatedLater reads a file that another process truncates after it was opened.
func TestTruncatedLater(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.gguf")
	if err := os.WriteFile(name, newRaw(1, 0).tensor("a", 0, 1<<20).data(4<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := gguf.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.Truncate(name, 1<<20); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Tensors[0].Bytes(); !errors.Is(err, weights.ErrTruncated) {
		t.Errorf("Bytes: %v", err)
	}
	if err := gguf.Write(&bytes.Buffer{}, f); !errors.Is(err, weights.ErrTruncated) {
		t.Errorf("Write: %v", err)
	}
}

// hostiles are the other ways in which a file can lie.
func hostiles() []hostile {
	const array, str, u32, boolean = 9, 8, 4, 7
	u32s := func(n ...uint32) (r raw) {
		for _, n := range n {
			r = r.u32(n)
		}
		return r
	}
	deep := newRaw(0, 1).str("k").u32(array)
	for range 100_000 {
		deep = deep.u32(array).u64(1)
	}
	return []hostile{
		{"empty", nil, "does not begin"},
		{"short", raw("GGU"), "does not begin"},
		{"magic", raw("GGML").u32(3).u64(0).u64(0), "does not begin"},
		{"only the magic", raw("GGUF"), "4 bytes"},
		{"version 0", raw("GGUF").u32(0).u64(0).u64(0), "version 0"},
		{"version 1", raw("GGUF").u32(1).u64(0).u64(0), "version 1"},
		{"version 4", raw("GGUF").u32(4).u64(0).u64(0), "version 4"},
		{"big-endian", raw("GGUF").u32(3 << 24).u64(0).u64(0), "big-endian"},
		{"a header that ends early", newRaw(0, 0)[:20], "bytes"},
		{"key past the end", newRaw(0, 1).u64(1 << 40).data(32), "bytes of a string"},
		{"key of 2^64-1 bytes", newRaw(0, 1).u64(math.MaxUint64).data(32), "bytes of a string"},
		{"key of 65536 bytes", newRaw(0, 1).entry(strings.Repeat("k", 65536), u32, u32s(1)...), "65536 bytes"},
		{"key not UTF-8", newRaw(0, 1).entry("\xff", u32, u32s(1)...), "not UTF-8"},
		{"two equal keys", newRaw(0, 2).entry("k", u32, u32s(1)...).entry("k", u32, u32s(1)...), "occurs twice"},
		{"string past the end", newRaw(0, 1).str("k").u32(str).u64(100).data(32), "bytes of a string"},
		{"metadata type", newRaw(0, 1).entry("k", 13).data(32), "type 13"},
		{"array type", newRaw(0, 1).str("k").u32(array).u32(13).u64(1).data(32), "type 13"},
		{"array past the end", newRaw(0, 1).str("k").u32(array).u32(0).u64(1 << 40).data(32), "elements of an array"},
		{"array of 2^61 numbers", newRaw(0, 1).str("k").u32(array).u32(10).u64(1 << 61).data(32), "elements of an array"},
		{"array of many strings", newRaw(0, 1).str("k").u32(array).u32(str).u64(1 << 20).data(1 << 20), "elements of an array"},
		{"array of many arrays", newRaw(0, 1).str("k").u32(array).u32(array).u64(1 << 20).data(1 << 20), "elements of an array"},
		{"nested arrays", deep, "nested deeper"},
		{"a bool of 2", newRaw(0, 1).entry("k", boolean, 2), "bool is 2"},
		{"tensor name past the end", newRaw(1, 0).u64(1 << 40).data(64), "bytes of a string"},
		{"tensor name of 65536 bytes", newRaw(1, 0).tensor(strings.Repeat("a", 65536), 0, 8).data(32), "65536 bytes"},
		{"tensor name not UTF-8", newRaw(1, 0).tensor("\xc0", 0, 8).data(32), "not UTF-8"},
		{"two equal names", newRaw(2, 0).tensor("a", 0, 8).tensor("a", 32, 8).data(64), `name "a"`},
		{"tensor type", newRaw(1, 0).typed("a", 31, 0, 8).data(64), "type 31"},
		{"tensor type 2^32-1", newRaw(1, 0).typed("a", math.MaxUint32, 0, 8).data(64), "type 4294967295"},
		{"row of half a block", newRaw(1, 0).typed("a", 8, 0, 16, 2).data(64), "has 16 elements"},
		{"scalar of blocks", newRaw(1, 0).typed("a", 8, 0).data(64), "has 1 elements"},
		{"offset not aligned", newRaw(1, 0).tensor("a", 4, 8).data(64), "not a multiple of 32"},
		{"tensors overlap", newRaw(2, 0).tensor("a", 0, 9).tensor("b", 32, 8).data(128), `"a" and "b" overlap`},
		{"tensors are the same", newRaw(2, 0).tensor("a", 32, 8).tensor("b", 32, 8).data(128), "overlap"},
		{"tensor in the header", newRaw(1, 0).tensor("a", math.MaxUint64-63, 8).data(64), "beyond the end"},
		{"alignment 0", newRaw(0, 1).entry("general.alignment", u32, u32s(0)...), "power of two"},
		{"alignment 24", newRaw(0, 1).entry("general.alignment", u32, u32s(24)...), "power of two"},
		{"alignment string", newRaw(0, 1).str("general.alignment").u32(str).str("32"), "power of two"},
		{"alignment 2^31", newRaw(1, 1).entry("general.alignment", u32, u32s(1<<31)...).tensor("a", 0, 8).data(64), "at offset 2147483648"},
		{"part of a split model", newRaw(0, 1).entry("split.count", u32, u32s(2)...), "opened by its name"},
		{"part 3 of 2", newRaw(0, 2).entry("split.count", u32, u32s(2)...).entry("split.no", u32, u32s(2)...), "cannot exist"},
		{"split count", newRaw(0, 1).str("split.count").u32(str).str("2"), "not a number"},
	}
}

// TestHostile expects an error for each of hostiles.
func TestHostile(t *testing.T) {
	for _, h := range hostiles() {
		h.check(t)
	}
}

// sparse is a file of many zeros after its start.
type sparse struct{ begin raw }

func (s sparse) ReadAt(p []byte, off int64) (int, error) {
	clear(p)
	if off < int64(len(s.begin)) {
		copy(p, s.begin[off:])
	}
	return len(p), nil
}

// TestSparse reads files whose length would justify any amount of memory, but which take none on a disk.
func TestSparse(t *testing.T) {
	for _, begin := range []raw{
		newRaw(0, 1).str("k").u32(9).u32(8).u64(1 << 36),
		newRaw(0, 1).u64(1 << 39),
		newRaw(0, 1<<35),
		newRaw(1<<35, 0),
	} {
		var err error
		used := allocated(func() { _, err = gguf.NewReader(sparse{begin}, 1<<40) })
		if !errors.Is(err, weights.ErrFormat) || used > mayAllocate(len(begin)) {
			t.Errorf("read with %d bytes of memory: %v", used, err)
		}
	}
	f, err := gguf.NewReader(sparse{newRaw(1, 0).tensor("a", 1<<38, 1<<37).data(0)}, 1<<40)
	if err != nil || f.Size() != 1<<39 {
		t.Errorf("a tensor of 512 GiB: %v", err)
	}
}

// TestPickle expects an error that says what the file is.
func TestPickle(t *testing.T) {
	for _, file := range []string{"\x80\x02}q\x00.aaaaaaaaaaa", "PK\x03\x04\x00\x00\x08\x08\x00\x00archive/data.pkl"} {
		if _, err := raw(file).read(); !errors.Is(err, weights.ErrPickle) {
			t.Errorf("%q: %v", file, err)
		}
	}
}

// FuzzRead reads arbitrary files. What it accepts, it must be able to read, to write and to read again, with memory in proportion.
func FuzzRead(f *testing.F) {
	f.Add([]byte(newRaw(0, 0)))
	f.Add([]byte(newRaw(2, 1).entry("general.alignment", 4, 64, 0, 0, 0).tensor("a", 0, 3, 2).typed("b", 8, 64, 32).data(128)))
	f.Add([]byte(newRaw(0, 1).str("tokens").u32(9).u32(8).u64(2).str("a").str("b")))
	f.Add([]byte(newRaw(0, 1).str("nested").u32(9).u32(9).u64(1).u32(5).u64(2).u64(7)))
	for _, h := range hostiles() {
		if len(h.file) < 1000 {
			f.Add([]byte(h.file))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var file *weights.File
		var err error
		if used := allocated(func() { file, err = raw(data).read() }); used > mayAllocate(len(data)) {
			t.Errorf("read %d bytes with %d bytes of memory", len(data), used)
		}
		if err != nil {
			return
		}
		if file.Size() > int64(len(data)) {
			t.Errorf("%d bytes of tensors in %d bytes", file.Size(), len(data))
		}
		if alignment, err := weights.Get[uint32](file.Metadata, "general.alignment"); err == nil && alignment > 1<<16 {
			return // written, it would need that much memory
		}
		var written bytes.Buffer
		if err := gguf.Write(&written, file); err != nil {
			t.Fatal(err)
		}
		again, err := raw(written.Bytes()).read()
		if err != nil {
			t.Fatal(err)
		}
		same(t, again, file)
	})
}
