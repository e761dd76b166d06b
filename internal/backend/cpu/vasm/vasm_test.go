package vasm

import (
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// body returns the instructions of f, without its heading.
func body(f *Func) string {
	f.SetName("F")
	_, text, _ := strings.Cut(f.Text(), "TEXT ")
	_, text, _ = strings.Cut(text, "\n")
	return strings.TrimSpace(text)
}

func TestParameters(t *testing.T) {
	f := New(&AVX512)
	var at []string
	for _, typ := range []string{"bool", "float32", "bool", "int", "float64", "float32", "unsafe.Pointer", "bool"} {
		at = append(at, f.Param(typ).text)
	}
	want := "[a0+0(FP) a1+4(FP) a2+8(FP) a3+16(FP) a4+24(FP) a5+32(FP) a6+40(FP) a7+48(FP)]" // as Go lays out a struct
	if got := fmt.Sprint(at); got != want {
		t.Errorf("parameters are at %s, want %s", got, want)
	}
	if got := f.Result().text; got != "done+56(FP)" {
		t.Errorf("the result is at %s", got)
	}
}

func TestSweep(t *testing.T) {
	f := New(&AVX512)
	x, y, z := f.Reg(Integer), f.Reg(Integer), f.Reg(Mask)
	f.Op("MOVQ", Imm(1), Def(x)) // for y alone, which nobody reads
	f.Op("LEAQ", Mem(x, 8), Def(y))
	f.Op("KXORW", Def(z), Def(z), Def(z)) // written again
	f.Op("KMOVW", f.Param("int"), Def(z))
	f.Op("KMOVW", Use(z), f.Result())
	f.Op("RET")
	if got, want := body(f), "KMOVW a0+0(FP),K1\nKMOVW K1,done+8(FP)\nRET"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestStraighten(t *testing.T) {
	f := New(&AVX512)
	x := f.Reg(Integer)
	f.Op("MOVQ", f.Param("int"), Def(x))
	yes, no, far, end := f.NewLabel(), f.NewLabel(), f.NewLabel(), f.NewLabel()
	f.Op("CMPQ", Use(x), Imm(3))
	f.Jump("JLT", yes) // over a jump to a jump
	f.Jump("JMP", no)
	f.Label(yes)
	f.Op("ADDQ", Imm(1), Mod(x))
	f.Jump("JMP", end) // to what is next but for what nothing leads to
	f.Op("ADDQ", Imm(2), Mod(x))
	f.Label(no)
	f.Jump("JMP", far)
	f.Label(far)
	f.Jump("JMP", end)
	f.Label(end)
	f.Op("MOVQ", Use(x), f.Result())
	f.Op("RET")
	want := "MOVQ a0+0(FP),AX\nCMPQ AX,$3\nJGE l4\nADDQ $1,AX\nl4:MOVQ AX,done+8(FP)\nRET"
	if got := body(f); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestFrame has more values alive than there are registers: some live in the frame, and each has its own place.
func TestFrame(t *testing.T) {
	f := New(&AVX512)
	var list []Reg
	for range 40 {
		r := f.Reg(Vector)
		f.Op("VMOVUPS", f.Param("int"), Def(r)) // Go's assembler would want a vector there
		list = append(list, r)
	}
	for _, r := range list {
		f.Op("VADDPS", Use(r), Use(list[0]), Def(list[0]))
	}
	f.Op("VMOVUPS", Use(list[0]), f.Result())
	f.Op("RET")
	text := f.Text()
	slots := map[string]bool{}
	for _, m := range regexp.MustCompile(`VMOVUPS Z\d+,(\d*)\(SP\)`).FindAllStringSubmatch(text, -1) {
		slots[m[1]] = true
	}
	if want := 40 - 31; len(slots) < want || !strings.Contains(text, fmt.Sprintf("$%d-", 64*len(slots))) {
		t.Errorf("%d places in the frame, want at least %d\n%s", len(slots), want, text)
	}
}

// TestFrameCopies copies from the frame to the frame: what is stored is what was loaded.
func TestFrameCopies(t *testing.T) {
	f := New(&AVX2)
	n := f.Reg(Integer)
	f.Op("MOVQ", f.Param("int"), Def(n))
	var from, to []Reg
	for i := range 20 {
		from, to = append(from, f.Reg(Vector)), append(to, f.Reg(Vector))
		f.Op("VMOVUPS", Mem(n, int64(32*i)), Def(from[i]))
	}
	for i := range from {
		f.Op("VMOVUPS", Use(from[i]), Def(to[i]))
	}
	for i := range from {
		f.Op("VPADDD", Use(from[i]), Use(to[i]), Def(to[i]))
	}
	for i := range to {
		f.Op("VMOVUPS", Use(to[i]), Mem(n, int64(32*i)))
	}
	f.Op("RET")
	text := body(f)
	loaded := regexp.MustCompile(`VMOVUPS \d*\(SP\),(Y\d+)[;\n]VMOVUPS (Y\d+),\d*\(SP\)`).FindAllStringSubmatch(text, -1)
	if len(loaded) < 20-15 {
		t.Errorf("%d copies from the frame to the frame\n%s", len(loaded), text)
	}
	for _, m := range loaded {
		if m[1] != m[2] {
			t.Errorf("%q", m[0])
		}
	}
}

// TestAssembler has Go's assembler take all kinds of operands, and looks at the bytes of a few instructions that are
// easily written the wrong way round (Intel's manual, volume 2, has their encodings).
func TestAssembler(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("Go's assembler for amd64 is not the default here")
	}
	f := New(&AVX512)
	n, v, w, k, l := f.Reg(Integer), f.Reg(Vector), f.Reg(Vector), f.Reg(Mask), f.Reg(Mask)
	f.Op("MOVQ", f.Param("int"), Def(n))                        // AX
	f.Op("VPXORQ", Def(v), Def(v), Def(v))                      // Z0
	f.Op("VMOVUPS", Mem(n, 64), Def(w))                         // Z1
	f.Op("VCMPPS", Imm(1), Use(w), Use(v), Def(k))              // k1 = Z0 < Z1
	f.Op("VSUBPS", Use(w), Use(v), Def(v))                      // Z0 = Z0 - Z1
	f.Op("KXNORW", Def(l), Def(l), Def(l))                      // k2
	f.Op("KANDNW", Use(l), Use(k), Def(k))                      // k1 = k2 &^ k1
	f.Op("VMOVUPS", Use(v), Use(k), Mem(n, 128))                // masked
	f.Op("VGATHERQPD", Vectored(n, w), Mod(k), Mod(v).Soon())   // spoils k1
	f.Op("VEXTRACTI64X4", Imm(1), Use(v), Def(w).Half())        // the upper half
	f.Op("VMOVUPS", Use(w).Half(), Indexed(n, n, 8).Behind(32)) //
	f.Op("MOVQ", Use(n), f.Result())
	f.Op("RET")
	f.SetName("F")
	bytes := assembled(t, f)
	for what, want := range map[string]string{
		"VCMPPS $1, Z1, Z0, K1":      "62f17c48c2c901",
		"VSUBPS Z1, Z0, Z0":          "62f17c485cc1",
		"KANDNW K2, K1, K1":          "c5f442ca",
		"VMOVUPS Z0, K1, 128(AX)":    "62f17c4911",
		"VGATHERQPD 0(AX)(Z1*1), K1": "62f2fd499304",
		"VEXTRACTI64X4 $1, Z0, Y1":   "62f3fd483bc101",
		"VMOVUPS Y1, 32(AX)(AX*8)":   "c5fc114cc020",
	} {
		if !strings.Contains(bytes, want) {
			t.Errorf("%s: no %s in %s", what, want, bytes)
		}
	}
}

// TestLines reads from the object file which line of the kernel each instruction comes from.
func TestLines(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("Go's assembler for amd64 is not the default here")
	}
	f := New(&AVX512)
	f.At(Pos{"kernel.go", 7})
	n, m := f.Reg(Integer), f.Reg(Integer)
	f.Op("MOVQ", f.Param("int"), Def(n))
	f.At(Pos{"kernel.go", 9})
	f.Op("LEAQ", Mem(n, 1), Def(m))
	for range 100 { // more than one line of text
		f.Op("ADDQ", Imm(3), Mod(m))
	}
	end := f.NewLabel()
	f.At(Pos{"other.go", 300})
	f.Op("CMPQ", Use(m), Imm(5))
	f.Jump("JLT", end)
	f.At(Pos{"kernel.go", 8})
	f.Op("ADDQ", Imm(4), Mod(m))
	f.Label(end)
	f.Op("MOVQ", Use(m), f.Result())
	f.Op("RET")
	f.SetName("F")
	var got []string
	for line := range strings.Lines(disassembled(t, f)) {
		if at := regexp.MustCompile(`^ +(\S+:\d+)`).FindStringSubmatch(line); at != nil && (len(got) == 0 || got[len(got)-1] != at[1]) {
			got = append(got, at[1])
		}
	}
	if want := "[kernel.go:7 kernel.go:9 other.go:300 kernel.go:8]"; fmt.Sprint(got) != want {
		t.Errorf("instructions come from %v, want %s\n%s", got, want, f.Text())
	}
}

// disassembled returns what go tool objdump says of a function.
func disassembled(t *testing.T, f *Func) string {
	t.Helper()
	out, err := exec.Command("go", "tool", "objdump", object(t, f)).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// assembled returns the object file of a function in hexadecimal digits.
func assembled(t *testing.T, f *Func) string {
	t.Helper()
	bytes, err := os.ReadFile(object(t, f))
	if err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(bytes)
}

// object returns the name of the object file of a function.
func object(t *testing.T, f *Func) string {
	t.Helper()
	dir := t.TempDir()
	source, object := filepath.Join(dir, "f.s"), filepath.Join(dir, "f.o")
	if err := os.WriteFile(source, []byte(f.Text()), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "tool", "asm", "-p", "p", "-o", object, source).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s\n%s", err, out, f.Text())
	}
	return object
}
