package ptxtext_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/ptxtext"
)

// samples returns the PTX of the back end's tests.
func samples(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("../backend/ptx/testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	var all []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if i := strings.Index(string(text), ".version"); i >= 0 {
			all = append(all, string(text[i:]))
		}
	}
	return all
}

// odd are texts that break each of the rules by which packed text leaves something out.
var odd = []string{
	"", "\n", "\n\n", "\t", ";", "\t;", "\t\n", "\t;\n", "\t;;\n", "\t.loc 1 2 3;\n", "\t.loc 1 2 3", "\t.\n\t.\n", "!", "\t!\n", "a!\n", "`",
	"\x00\x7f\xff", "é\r\n", "\t%r1 %r3 %r2 %r01 %r1a %rx %r99999999999 %r0;\n", "$B0:\n\tbra $B9;\n\tbra $B0;\n$B2:\n\tbra $B999;\n$B1:\n",
	".entry f(f_params f", ".entry (", ".entry f g(", ".entry é(", ".entry f", "packed1 3 x\n", "%", "$", "\t%p",
	".entry " + strings.Repeat("n", 300) + "(" + strings.Repeat("n", 300),
	strings.Repeat("\t.loc 1 2 "+strings.Repeat("3", 300)+"\n", 3),
}

func TestRoundTrip(t *testing.T) {
	for _, text := range append(samples(t), odd...) {
		packed := ptxtext.Pack(text)
		if got, err := ptxtext.Unpack(packed); got != text || err != nil {
			t.Errorf("%q becomes %q and then %q, %v", text, packed, got, err)
		}
		if bad := strings.IndexFunc(packed, func(r rune) bool { return r != '\n' && (r < ' ' || r > '~' || r == '`') }); bad >= 0 {
			t.Errorf("%q has a character that raw strings cannot have at %d", packed, bad)
		}
		if got, want := strings.Count(packed, "\n"), strings.Count(text, "\n")+1; got != want {
			t.Errorf("%q has %d lines and is packed to %d", text, want, got)
		}
	}
}

// TestPatch makes each text of each other one, and a third one of the result.
func TestPatch(t *testing.T) {
	texts := append(samples(t)[:12], odd...)
	for i, from := range texts {
		for k, to := range texts {
			base := ptxtext.Pack(from)
			once := base + ptxtext.Patch(base, ptxtext.Pack(to))
			if got, err := ptxtext.Unpack(once); got != to || err != nil {
				t.Fatalf("%q becomes %q with %q, want %q, %v", from, got, once[len(base):], to, err)
			}
			last := texts[(i+k)%len(texts)]
			if got, err := ptxtext.Unpack(once + ptxtext.Patch(once, ptxtext.Pack(last))); got != last || err != nil {
				t.Fatalf("%q becomes %q after %q, want %q, %v", from, got, to, last, err)
			}
		}
	}
}

// TestShortPatch changes a few lines of a text.
func TestShortPatch(t *testing.T) {
	var lines []string
	for i := range 2000 {
		lines = append(lines, fmt.Sprintf("\tmov.u32 %%r1, %d;", i))
	}
	base := ptxtext.Pack(strings.Join(lines, "\n"))
	lines[100] = "\tgriddepcontrol.wait;"
	lines = slices.Delete(lines, 500, 510)
	lines = slices.Insert(lines, 1000, "\tret;", "\tret;")
	to := strings.Join(lines, "\n")
	patch := ptxtext.Patch(base, ptxtext.Pack(to))
	if got, err := ptxtext.Unpack(base + patch); got != to || err != nil || len(patch) > 300 {
		t.Errorf("a patch of %d bytes, %v\n%s", len(patch), err, patch)
	}
}

func TestPackConcurrently(t *testing.T) {
	var group sync.WaitGroup
	for _, text := range samples(t) {
		for range 4 {
			group.Go(func() {
				if got, err := ptxtext.Unpack(ptxtext.Pack(text)); got != text || err != nil {
					t.Errorf("%q becomes %q, %v", text, got, err)
				}
			})
		}
	}
	group.Wait()
}

func TestRecentDirectives(t *testing.T) {
	var text strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&text, "\t.loc 1 %d 3\n\tret;\n", i*i%200)
	}
	if got, err := ptxtext.Unpack(ptxtext.Pack(text.String())); got != text.String() || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

// TestFixed unpacks text of each version, as programs that were built with that version contain it.
func TestFixed(t *testing.T) {
	const plain = `.version 7.0
.target sm_80
.address_size 64
.file 1 "kernel.go"

.visible .entry multiply(.param .align 8 .b8 multiply_params[72])
{
	.reg .pred %p<2>;
	.reg .b64 %rd<9>;

	ld.param.u64 %rd1, [multiply_params+24];
	.loc 1 12 3
	setp.lt.s64 %p1, 0, %rd1;
	@!%p1 bra $B0;
	.loc 1 13 4
	mul.lo.s64 %rd2, %rd1, 12345;
	.loc 1 12 3
$B0:
	ret;
}
`
	for _, packed := range []string{version1} {
		if got, err := ptxtext.Unpack(packed); got != plain || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	}
	if got := ptxtext.Pack(plain); got != version1 {
		t.Errorf("packed:\n%s", got)
	}
}

func TestPlain(t *testing.T) {
	for _, text := range []string{"", ".version 6.0\n", "// hand-written\n.version 6.0\n"} {
		if got, err := ptxtext.Unpack(text); got != text || err != nil {
			t.Errorf("Unpack(%q) = %q, %v", text, got, err)
		}
	}
}

func TestCorrupt(t *testing.T) {
	for _, text := range []string{
		"packed", "packed2 1 f\n!", "packed1", "packed1 1\n!", "packed1 x f\n", "packed1 1 f\n", "packed1 2000000000 f\nx",
		"packed1 -1 f\n", "packed1 9999999999 f\n", "packed1 0 f\n0", "packed1 1 f\n`", "packed1 1 f\n~", "packed1 1 f\n!!!", "packed1 1 f\n\x80",
		"packed1 0 " + strings.Repeat("f", 1000) + "\n",
		"packed1 0 f\n\n patch\n =4", "packed1 0 f\n\n patch\n =-1", "packed1 0 f\n\n patch\n -x", "packed1 0 f\n\n patch\n ", "packed1 0 f\n\n patch\n -2\n",
	} {
		if got, err := ptxtext.Unpack(text); !errors.Is(err, ptxtext.ErrCorrupt) {
			t.Errorf("Unpack(%q) = %q, %v", text, got, err)
		}
	}
}

func FuzzRoundTrip(f *testing.F) {
	for _, text := range append(samples(f)[:10], odd...) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got, err := ptxtext.Unpack(ptxtext.Pack(text)); got != text || err != nil {
			t.Errorf("%q becomes %q, %v", text, got, err)
		}
	})
}

func FuzzUnpack(f *testing.F) {
	f.Add(version1)
	f.Add(version1 + ptxtext.Patch(version1, ptxtext.Pack("\tret;\n\texit;\n")))
	for _, text := range odd {
		f.Add(ptxtext.Pack(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got, err := ptxtext.Unpack(text); err != nil && (got != "" || !errors.Is(err, ptxtext.ErrCorrupt)) {
			t.Errorf("Unpack(%q) = %q, %v", text, got, err)
		}
	})
}

const version1 = `packed1 340 multiply
!|hf|f
!|gxO
!p8
!t9
!
!pHr*pD
!c
p;to
p:te
!
pa
r#r1
uh
5
uAps
}PsTu)8
"#
!#
p(
!L
`
