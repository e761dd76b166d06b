package safetensors_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/safetensors"
)

// raw returns a file with a header and n bytes of data.
func raw(header string, n int) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(b, header...), make([]byte, n)...)
}

// lengthed returns a file that claims a length of its header.
func lengthed(length uint64, rest string) []byte {
	return append(binary.LittleEndian.AppendUint64(nil, length), rest...)
}

// read returns the contents of a file.
func read(file []byte) (*weights.File, error) {
	return safetensors.NewReader(bytes.NewReader(file), int64(len(file)))
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
func mayAllocate(n int) uint64 { return 1<<18 + 128*uint64(n) }

// hostile is an invalid file, and a part of the error that it has.
type hostile struct {
	name     string
	file     []byte
	want     string
	stricter bool // the reference implementation accepts the file
}

// hostiles are the attacks that the documentation of the format names, and others.
func hostiles() []hostile {
	const a = `{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}`
	one := func(dtype, shape, offsets string) string {
		return fmt.Sprintf(`{"a":{"dtype":%s,"shape":%s,"data_offsets":%s}}`, dtype, shape, offsets)
	}
	return []hostile{
		{name: "empty", want: "0 bytes"},
		{name: "seven bytes", file: []byte("1234567"), want: "7 bytes"},
		{name: "length past the end", file: lengthed(100, a+"}"), want: "length of its header is 100"},
		{name: "length of 2^64-1", file: lengthed(math.MaxUint64, a+"}"), want: "length of its header"},
		{name: "length of 2^63", file: lengthed(1<<63, a+"}"), want: "length of its header"},
		{name: "length over 100 MB", file: lengthed(100_000_001, strings.Repeat(" ", 100_000_001)), want: "length of its header is 100000001"},
		{name: "length 0", file: lengthed(0, a), want: "not a JSON object"},
		{name: "a space before the object", file: raw(" {}", 0), want: "not a JSON object", stricter: true},
		{name: "an array", file: raw(`[]`, 0), want: "not a JSON object"},
		{name: "a number", file: raw(`1`, 0), want: "not a JSON object"},
		{name: "invalid JSON", file: raw(`{"a":`, 0), want: "the object of a tensor is expected"},
		{name: "no closing brace", file: raw(a, 8), want: "a comma or the end is expected"},
		{name: "two objects", file: raw(a+"}{}", 8), want: "goes on"},
		{name: "zeros after the object", file: raw(a+"}\x00\x00", 8), want: "goes on"},
		{name: "not UTF-8", file: raw("{\"\xff\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8), want: "not UTF-8"},
		{name: "two equal tensors", file: raw(a+","+a[1:]+"}", 8), want: `"a" occurs twice`, stricter: true},
		{name: "equal after unescaping", file: raw(a+`,"\u0061"`+a[4:]+"}", 8), want: `"a" occurs twice`, stricter: true},
		{name: "two metadata objects", file: raw(`{"__metadata__":{},"__metadata__":{}}`, 0), want: "occurs twice"},
		{name: "two equal metadata keys", file: raw(`{"__metadata__":{"k":"1","k":"2"}}`, 0), want: `"k" occurs twice`, stricter: true},
		{name: "metadata number", file: raw(`{"__metadata__":{"k":1}}`, 0), want: "a string is expected"},
		{name: "metadata array", file: raw(`{"__metadata__":[]}`, 0), want: "the object of __metadata__ is expected"},
		{name: "two dtypes", file: raw(`{"a":{"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]}}`, 8), want: "occurs twice"},
		{name: "an unknown key", file: raw(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"x":1}}`, 8), want: "unknown key", stricter: true},
		{name: "no dtype", file: raw(`{"a":{"shape":[2],"data_offsets":[0,8]}}`, 8), want: "incomplete"},
		{name: "no offsets", file: raw(`{"a":{"dtype":"F32","shape":[2]}}`, 8), want: "incomplete"},
		{name: "a tensor of null", file: raw(`{"a":null}`, 0), want: "the object of a tensor is expected"},
		{name: "invalid dtype", file: raw(one(`"F31"`, "[2]", "[0,8]"), 8), want: `dtype "F31"`},
		{name: "dtype of GGUF", file: raw(one(`"Q8_0"`, "[32]", "[0,34]"), 34), want: `dtype "Q8_0"`},
		{name: "lower case", file: raw(one(`"f32"`, "[2]", "[0,8]"), 8), want: `dtype "f32"`},
		{name: "dtype number", file: raw(one("1", "[2]", "[0,8]"), 8), want: "a string is expected"},
		{name: "shape number", file: raw(one(`"F32"`, "2", "[0,8]"), 8), want: "the array of shape is expected"},
		{name: "negative dimension", file: raw(one(`"F32"`, "[-2]", "[0,8]"), 8), want: "shape has an element"},
		{name: "fraction", file: raw(one(`"F32"`, "[2.0]", "[0,8]"), 8), want: "a comma or the end"},
		{name: "exponent", file: raw(one(`"F32"`, "[2e0]", "[0,8]"), 8), want: "a comma or the end"},
		{name: "string dimension", file: raw(one(`"F32"`, `["2"]`, "[0,8]"), 8), want: "shape has an element"},
		{name: "nested shape", file: raw(one(`"F32"`, strings.Repeat("[", 100_000), "[0,8]"), 8), want: "shape has an element"},
		{name: "leading zero", file: raw(one(`"F32"`, "[02]", "[0,8]"), 8), want: "shape has an element"},
		{name: "no dimension after a comma", file: raw(one(`"F32"`, "[2,]", "[0,8]"), 8), want: "shape has an element"},
		{name: "a string that does not end", file: raw(`{"a`, 0), want: "does not end"},
		{name: "a string that ends in an escape", file: raw(`{"a\"`, 0), want: "does not end"},
		{name: "an unknown escape", file: raw(`{"\x":1}`, 0), want: "invalid JSON"},
		{name: "a control character", file: raw("{\"a\nb\":1}", 0), want: "invalid JSON"},
		{name: "no colon", file: raw(`{"a" 1}`, 0), want: "a colon is expected"},
		{name: "a comma at the end", file: raw(a+",}", 8), want: "a string is expected"},
		{name: "dimension of 2^64", file: raw(one(`"F32"`, "[18446744073709551616]", "[0,8]"), 8), want: "shape has an element"},
		{name: "shape overflow", file: raw(one(`"F32"`, "[4294967296,4294967296]", "[0,0]"), 0), want: "overflows"},
		{name: "shape overflow to 2", file: raw(one(`"U8"`, "[2,9223372036854775809]", "[0,2]"), 2), want: "shape has an element"},
		{name: "size overflow", file: raw(one(`"F64"`, "[4611686018427387904]", "[0,0]"), 0), want: "overflows"},
		{name: "a shape too large", file: raw(one(`"F32"`, "[3]", "[0,8]"), 8), want: "8 bytes for 12"},
		{name: "a shape too small", file: raw(one(`"F32"`, "[1]", "[0,8]"), 8), want: "8 bytes for 4"},
		{name: "half a byte", file: raw(one(`"F4"`, "[3]", "[0,2]"), 2), want: "blocks have 2"},
		{name: "one offset", file: raw(one(`"F32"`, "[2]", "[8]"), 8), want: "data_offsets"},
		{name: "three offsets", file: raw(one(`"F32"`, "[2]", "[0,8,8]"), 8), want: "data_offsets"},
		{name: "offsets reversed", file: raw(one(`"F32"`, "[2]", "[8,0]"), 8), want: "data_offsets"},
		{name: "negative offset", file: raw(one(`"F32"`, "[2]", "[-8,0]"), 8), want: "data_offsets has an element"},
		{name: "offsets past the end", file: raw(one(`"F32"`, "[2]", "[0,8]"), 7), want: "ends at offset 8 of 7"},
		{name: "offsets far past the end", file: raw(one(`"F32"`, "[2]", "[9223372036854775799,9223372036854775807]"), 8), want: "begins at offset"},
		{name: "a hole at the start", file: raw(one(`"F32"`, "[2]", "[8,16]"), 16), want: "begins at offset 8"},
		{name: "a hole at the end", file: raw(a+"}", 9), want: "end at offset 8 of 9"},
		{name: "only data", file: raw("{}", 1), want: "end at offset 0 of 1"},
		{name: "a hole between", file: raw(a+`,"b":{"dtype":"F32","shape":[1],"data_offsets":[12,16]}}`, 16), want: `"b" begins at offset 12`},
		{name: "overlap", file: raw(a+`,"b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}}`, 12), want: `"b" begins at offset 4`},
		{name: "the same bytes", file: raw(a+`,"b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`, 8), want: "begins at offset 0"},
	}
}

// TestHostile expects an error that matches weights.ErrFormat, and little memory.
func TestHostile(t *testing.T) {
	for _, h := range hostiles() {
		var err error
		used := allocated(func() { _, err = read(h.file) })
		if !errors.Is(err, weights.ErrFormat) || !strings.Contains(err.Error(), h.want) {
			t.Errorf("%s: the error is %v, want one with %q", h.name, err, h.want)
		}
		if used > mayAllocate(len(h.file)) {
			t.Errorf("%s: read %d bytes with %d bytes of memory", h.name, len(h.file), used)
		}
	}
}

// TestPythonHostile compares what the reference implementation refuses: nothing that this package accepts, and where it is less strict,
// hostiles says so.
func TestPythonHostile(t *testing.T) {
	python := needPython(t)
	var files strings.Builder
	list := hostiles()
	for _, h := range list {
		if len(h.file) < 1<<20 {
			fmt.Fprintln(&files, hex.EncodeToString(h.file))
		}
	}
	accepted := strings.Fields(string(python.run(t, files.String(), "accepts")))
	for _, h := range list {
		if len(h.file) >= 1<<20 {
			continue
		}
		if accepts := accepted[0] == "True"; accepts != h.stricter {
			t.Errorf("%s: the reference implementation accepts it: %v", h.name, accepts)
		}
		accepted = accepted[1:]
	}
}

// TestPickle expects an error that says what the file is.
func TestPickle(t *testing.T) {
	for _, file := range []string{"\x80\x02}q\x00(X\x01\x00\x00", "\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00}", "PK\x03\x04\x00\x00\x08\x08\x00\x00archive/data.pkl"} {
		if _, err := read([]byte(file)); !errors.Is(err, weights.ErrPickle) {
			t.Errorf("%q: %v", file, err)
		}
	}
	// The length of a header may look like the start of a pickle.
	header := "{}" + strings.Repeat(" ", 0x280-2)
	if _, err := read(raw(header, 0)); err != nil {
		t.Errorf("a header of 0x280 bytes: %v", err)
	}
}

// TestHostileIndex has files of an index that lie.
func TestHostileIndex(t *testing.T) {
	folder := t.TempDir()
	const shard = `{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`
	for name, file := range map[string][]byte{"s1.safetensors": raw(shard, 8), "s2.safetensors": raw(shard, 8), "bad.safetensors": raw(shard, 7)} {
		if err := os.WriteFile(filepath.Join(folder, name), file, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ name, index, want string }{
		{"empty", ``, "the object of the index"},
		{"array", `[]`, "the object of the index"},
		{"no map", `{"metadata":{}}`, "no weight_map"},
		{"map array", `{"weight_map":[]}`, "the object of weight_map"},
		{"two maps", `{"weight_map":{},"weight_map":{}}`, "occurs twice"},
		{"not UTF-8", "{\"weight_map\":{\"\xff\":\"s1.safetensors\"}}", "not UTF-8"},
		{"deep metadata", `{"metadata":` + strings.Repeat("[", 100_000), "invalid JSON"},
		{"two equal tensors", `{"weight_map":{"a":"s1.safetensors","a":"s2.safetensors"}}`, "occurs twice"},
		{"file number", `{"weight_map":{"a":1}}`, "a string is expected"},
		{"parent folder", `{"weight_map":{"a":"../s1.safetensors"}}`, "not the name of a file beside"},
		{"absolute name", `{"weight_map":{"a":"/etc/passwd"}}`, "not the name of a file beside"},
		{"another folder", `{"weight_map":{"a":"sub/s1.safetensors"}}`, "not the name of a file beside"},
		{"backslash", `{"weight_map":{"a":"..\\s1.safetensors"}}`, "not the name of a file beside"},
		{"the folder", `{"weight_map":{"a":"."}}`, "not the name of a file beside"},
		{"no name", `{"weight_map":{"a":""}}`, "not the name of a file beside"},
		{"the index itself", `{"weight_map":{"a":"index.json"}}`, "length of its header"},
		{"missing tensor", `{"weight_map":{"a":"s1.safetensors","b":"s1.safetensors"}}`, `lacks tensor "b"`},
		{"unlisted tensor", `{"weight_map":{"a":"s1.safetensors","b":"s2.safetensors"}}`, `s2.safetensors has tensor "a"`},
		{"bad file", `{"weight_map":{"a":"bad.safetensors"}}`, "bad.safetensors"},
	} {
		name := filepath.Join(folder, "index.json")
		if err := os.WriteFile(name, []byte(c.index), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := safetensors.Open(name); !errors.Is(err, weights.ErrFormat) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: the error is %v, want one with %q", c.name, err, c.want)
		}
	}
	name := filepath.Join(folder, "index.json")
	if err := os.WriteFile(name, []byte(`{"weight_map":{"a":"none.safetensors"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := safetensors.Open(name); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

// FuzzRead reads arbitrary files. What it accepts, it must be able to read, to write and to read again, with memory in proportion.
func FuzzRead(f *testing.F) {
	f.Add(raw("{}", 0))
	f.Add(raw(`{"__metadata__":{"k":"v"},"b":{"dtype":"I8","shape":[3],"data_offsets":[8,11]},"a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]}} `, 11))
	f.Add(raw(`{"a":{"dtype":"F4","shape":[],"data_offsets":[0,1]}}`, 1))
	for _, h := range hostiles() {
		if len(h.file) < 1000 {
			f.Add(h.file)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var file *weights.File
		var err error
		if used := allocated(func() { file, err = read(data) }); used > mayAllocate(len(data)) {
			t.Errorf("read %d bytes with %d bytes of memory", len(data), used)
		}
		if err != nil {
			return
		}
		if n := binary.LittleEndian.Uint64(data); !json.Valid(data[8 : 8+n]) {
			t.Errorf("the header is not valid JSON: %q", data[8:8+n])
		}
		if file.Size() > int64(len(data)) {
			t.Errorf("%d bytes of tensors in %d bytes", file.Size(), len(data))
		}
		var written bytes.Buffer
		if err := safetensors.Write(&written, file); err != nil {
			t.Fatal(err)
		}
		again, err := read(written.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		same(t, again, file)
	})
}

// FuzzIndex parses arbitrary indexes of which no file exists.
func FuzzIndex(f *testing.F) {
	f.Add([]byte(`{"metadata":{"total_size":8},"weight_map":{}}`))
	f.Add([]byte(`{"weight_map":{"a":"s1.safetensors"}}`))
	name := filepath.Join(f.TempDir(), "index.json")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if file, err := safetensors.Open(name); err == nil && len(file.Tensors) > 0 {
			t.Error("tensors of files that do not exist")
		}
	})
}
