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
	".entry f(f_params f", ".entry (", ".entry f g(", ".entry é(", ".entry f", "packed2 3 x\n", "%", "$", "\t%p",
	".entry " + strings.Repeat("n", 300) + "(" + strings.Repeat("n", 300),
	strings.Repeat("\t.loc 1 2 "+strings.Repeat("3", 300)+"\n", 3),
}

func TestRoundTrip(t *testing.T) {
	for _, text := range append(samples(t), odd...) {
		packed := ptxtext.Pack(text)
		if got, err := ptxtext.Unpack(packed); got != text || err != nil {
			t.Errorf("%q becomes %q and then %q, %v", text, packed, got, err)
		}
		raw(t, packed)
	}
}

// raw checks that a raw string can have packed text.
func raw(t *testing.T, packed string) {
	t.Helper()
	if bad := strings.IndexFunc(packed, func(r rune) bool { return r != '\n' && (r < ' ' || r > '~' || r == '`') }); bad >= 0 {
		t.Errorf("%q has a character that raw strings cannot have at %d", packed, bad)
	}
}

// TestLibrary packs texts of which many are similar, in two orders.
func TestLibrary(t *testing.T) {
	texts := append(samples(t)[:40], odd...)
	for _, text := range samples(t)[:10] {
		texts = append(texts, strings.ReplaceAll(text, "f32", "f64"), strings.ReplaceAll(text, "sm_70", "sm_80"), text+text)
	}
	for range 2 {
		var library ptxtext.Library
		var chains [][]string
		for _, text := range texts {
			packed, base := library.Add(text)
			var chain []string
			if base >= 0 {
				chain = slices.Clone(chains[base])
			}
			chain = append(chain, packed)
			chains = append(chains, chain)
			if got, err := ptxtext.Unpack(chain...); got != text || err != nil {
				t.Fatalf("%q becomes %q with base %d and then %q, %v", text, packed, base, got, err)
			}
			raw(t, packed)
		}
		slices.Reverse(texts)
	}
}

// TestCopies packs lines that repeat at all distances, also of more lines than there are before, and adds a text that differs from the first
// one in a few lines.
func TestCopies(t *testing.T) {
	var lines []string
	for i := range 2000 {
		lines = append(lines, fmt.Sprintf("\tmov.u32 %%r1, %d;", i))
	}
	for _, distance := range []int{1, 2, 45, 46, 47, 91, 92, 500, 1999} {
		lines = append(lines, lines[len(lines)-distance:]...)
	}
	for range 5000 {
		lines = append(lines, lines[len(lines)-3])
	}
	text := strings.Join(lines, "\n")
	var library ptxtext.Library
	first, _ := library.Add(text)
	if got, err := ptxtext.Unpack(first); got != text || err != nil || len(first) > 2000*9 {
		t.Errorf("%d bytes, %v\n%s", len(first), err, first)
	}
	lines[100] = "\tgriddepcontrol.wait;"
	lines = slices.Delete(lines, 500, 510)
	lines = slices.Insert(lines, 1000, "\tret;", "\tret;")
	lines = slices.Concat(lines[1200:], lines[:1200])
	text = strings.Join(lines, "\n")
	second, base := library.Add(text)
	if got, err := ptxtext.Unpack(first, second); got != text || err != nil || base != 0 || len(second) > 200 {
		t.Errorf("a text of %d bytes with base %d, %v\n%s", len(second), base, err, second)
	}
}

// TestChain limits the size of the bases of a text.
func TestChain(t *testing.T) {
	var library ptxtext.Library
	sizes, linked := []int{}, []int{} // with all bases
	for i := range 40 {
		var text strings.Builder
		for k := range 100 {
			fmt.Fprintf(&text, "\tmov.u32 %%r1, %d;\n", 1000*max(0, i-k)+k)
		}
		packed, base := library.Add(text.String())
		sizes, linked = append(sizes, len(ptxtext.Pack(text.String()))), append(linked, len(packed))
		if base >= 0 {
			linked[i] += linked[base]
		}
		if linked[i] > sizes[i]*5/2+100 {
			t.Errorf("text %d has %d bytes with its bases, and %d without", i, linked[i], sizes[i])
		}
	}
	if linked[5] == sizes[5] {
		t.Error("text 5 has no base")
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
	if got, err := ptxtext.Unpack(version2); got != plain || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if got := ptxtext.Pack(plain); got != version2 {
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
		"packed", "packed2 1 f\n!", "packed2", "packed2 1\n!", "packed2 x f\n", "packed2 1 f\n", "packed2 2000000000 f\nx",
		"packed2 -1 f\n", "packed2 9999999999 f\n", "packed2 0 f\n0", "packed2 1 f\n`", "packed2 1 f\n~", "packed2 1 f\n!!!", "packed2 1 f\n\x80",
		"packed2 0 " + strings.Repeat("f", 1000) + "\n",
		// Copies without numbers, of no lines, from where no lines are, and of too many lines.
		"packed2 0 f\n ", "packed2 0 f\n %", "packed2 0 f\n %!", "packed2 0 f\n % #", "packed2 0 f\n ##", "packed2 0 f\n \"\"", "packed2 0 f\n %\"", "packed2 0 f\n %$",
		"packed2 0 f\n $\"", "packed2 0 f\n $#", "packed2 0 f\n ~~~~~~~~~~~~~~~~~#\"#", "packed2 0 f\n {~~~##",
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

// FuzzUnpack reads corrupt texts, with and without a base.
func FuzzUnpack(f *testing.F) {
	var library ptxtext.Library
	first, _ := library.Add(samples(f)[0])
	second, _ := library.Add(strings.ReplaceAll(samples(f)[0], "1", "2"))
	f.Add(version2, second)
	f.Add(first, second)
	for _, text := range odd {
		f.Add(ptxtext.Pack(text), "packed2 10 f\n $\"")
	}
	f.Fuzz(func(t *testing.T, base, text string) {
		for _, chain := range [][]string{{base}, {text}, {base, text}, {base, text, text}} {
			if got, err := ptxtext.Unpack(chain...); err != nil && (got != "" || !errors.Is(err, ptxtext.ErrCorrupt)) {
				t.Errorf("Unpack(%q) = %q, %v", chain, got, err)
			}
		}
	})
}

const version2 = `packed2 340 multiply
!y4}:Irmrnp{P?<
!?p)vzpEp3p)p/Ip[sLux
!t;
!uU
!
!pWt8pt
!qk
]rG
hq^
!
tn
qsqT
tHE
u"
rbtY
ubqyul.
/#
!s4
s3
!@
`
