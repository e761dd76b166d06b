package mutation

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

const small = "internal/verify/mutation/testdata/small"

func loadSmall(t *testing.T) *Source {
	t.Helper()
	s, err := load("../../..", []string{"./" + small})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// smallMutations are those of testdata/small/small.go.
const smallMutations = `
10 list.add comparison: if x < 0 || text == "" { => if x <= 0 || text == "" {
10 list.add comparison: if x < 0 || text == "" { => if x < 0 || text != "" {
10 list.add logic: if x < 0 || text == "" { => if x < 0 && text == "" {
10 list.add condition: if x < 0 || text == "" { => if !(x < 0 || text == "") {
10 list.add condition: if x < 0 || text == "" { => if (x < 0 || text == "") || true {
10 list.add condition: if x < 0 || text == "" { => if (x < 0 || text == "") && false {
10 list.add constant: if x < 0 || text == "" { => if x < (0 + 1) || text == "" {
11 list.add jump: return false =>
13 list.add drop: l.items = append(l.items, x) =>
14 list.add arithmetic: l.sum += x << 2 => l.sum -= x << 2
14 list.add arithmetic: l.sum += x << 2 => l.sum += x >> 2
14 list.add constant: l.sum += x << 2 => l.sum += x << (2 + 1)
14 list.add constant: l.sum += x << 2 => l.sum += x << (2 - 1)
14 list.add drop: l.sum += x << 2 =>
20 total comparison: if name > "m" { => if name >= "m" {
20 total condition: if name > "m" { => if !(name > "m") {
20 total condition: if name > "m" { => if (name > "m") || true {
20 total condition: if name > "m" { => if (name > "m") && false {
21 total jump: continue =>
23 total arithmetic: n += l.items[1] => n -= l.items[1]
23 total constant: n += l.items[1] => n += l.items[(1 + 1)]
23 total constant: n += l.items[1] => n += l.items[(1 - 1)]
28 total swap: return max(n, len(lists)) => return max(len(lists), n)
31 start arithmetic: var start = total(nil) * 8 => var start = total(nil) / 8
31 start constant: var start = total(nil) * 8 => var start = total(nil) * (8 + 1)
31 start constant: var start = total(nil) * 8 => var start = total(nil) * (8 - 1)
`

func TestRules(t *testing.T) {
	var got []string
	for _, m := range loadSmall(t).Mutations {
		if m.File != small+"/small.go" {
			t.Errorf("%s is mutated", m.File)
		}
		key := strings.TrimPrefix(m.Key(), m.File+" ")
		got = append(got, strings.TrimSpace(fmt.Sprintf("%d %s", m.Line, key)))
	}
	want := strings.Split(strings.TrimSpace(smallMutations), "\n")
	slices.Sort(got)
	slices.Sort(want)
	for _, line := range got {
		if !slices.Contains(want, line) {
			t.Errorf("unexpected: %s", line)
		}
	}
	for _, line := range want {
		if !slices.Contains(got, line) {
			t.Errorf("missing: %s", line)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d mutations, want %d", len(got), len(want))
	}
}

func TestApply(t *testing.T) {
	s := loadSmall(t)
	i := slices.IndexFunc(s.Mutations, func(m *Mutation) bool { return m.Rule == "swap" })
	got, err := s.Mutations[i].Apply("../../..")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("testdata/small/small.go")
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Replace(string(source), "max(n, len(lists))", "max(len(lists), n)", 1); string(got) != want {
		t.Errorf("got\n%s", got)
	}
}

// TestSample draws all mutations, all of which compile.
func TestSample(t *testing.T) {
	s := loadSmall(t)
	all, rejected := s.Sample(1000, 1)
	if len(all)+len(rejected) != len(s.Mutations) {
		t.Errorf("%d and %d of %d mutations", len(all), len(rejected), len(s.Mutations))
	}
	for _, m := range rejected {
		t.Errorf("%s does not compile: %v", m.Key(), s.Compiles(m))
	}
	first, _ := s.Sample(5, 7)
	again, _ := s.Sample(5, 7)
	other, _ := s.Sample(5, 8)
	if len(first) != 5 || !reflect.DeepEqual(first, again) {
		t.Errorf("a seed draws %v and %v", first, again)
	}
	if reflect.DeepEqual(first, other) {
		t.Error("two seeds draw the same sample")
	}
}

func TestWithKeys(t *testing.T) {
	s := loadSmall(t)
	key := small + "/small.go total jump: continue =>"
	list, err := s.WithKeys([]string{key})
	if err != nil || len(list) != 1 || list[0].Key() != key || list[0].Line != 21 {
		t.Errorf("got %v, %v", list, err)
	}
	if list, err = s.WithKeys([]string{key, "small.go total jump: break =>"}); err == nil || len(list) != 1 {
		t.Errorf("got %v, %v for a key of no mutation", list, err)
	}
}

func TestCompilesRejects(t *testing.T) {
	s := loadSmall(t)
	m := &Mutation{File: small + "/small.go", edits: []edit{{0, 0, "package other\n"}}}
	if err := s.Compiles(m); err == nil {
		t.Error("a file with two package clauses is accepted")
	}
	source, err := os.ReadFile("testdata/small/small.go")
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Index(string(source), `text == ""`)
	m.edits = []edit{{at, at + len(`text == ""`), "text == 1"}}
	if err := s.Compiles(m); err == nil || !strings.Contains(err.Error(), "mismatched types") {
		t.Errorf("a comparison of a string with an integer is accepted: %v", err)
	}
}

// TestGoBuild compiles mutants with the go command, which must agree with Compiles.
func TestGoBuild(t *testing.T) {
	if testing.Short() {
		t.Skip("starts the go command several times")
	}
	s := loadSmall(t)
	sample, _ := s.Sample(4, 1)
	for _, m := range sample {
		text, err := m.Apply(s.root)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		file, overlay := filepath.Join(dir, "mutant.go"), filepath.Join(dir, "overlay.json")
		replace, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(s.root, filepath.FromSlash(m.File)): file}})
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string][]byte{file: text, overlay: replace} {
			if err := os.WriteFile(name, text, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if out, err := exec.Command("go", "build", "-overlay="+overlay, "./testdata/small").CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", m.Key(), err, out)
		}
	}
}

// TestEquivalent demands that every entry of equivalent.txt is a mutation of the compiler as it is.
func TestEquivalent(t *testing.T) {
	reasons, err := Equivalent()
	if err != nil {
		t.Fatal(err)
	}
	s, err := Load("../../..")
	if err != nil {
		t.Fatal(err)
	}
	if n := len(s.Mutations); n < 10000 {
		t.Errorf("%d mutations of the compiler, want at least 10000", n)
	}
	keys := map[string]bool{}
	for _, m := range s.Mutations {
		keys[m.Key()] = true
	}
	for key := range reasons {
		if !keys[key] {
			t.Errorf("equivalent.txt has an entry for a mutation that no longer exists; remove or update it: %s", key)
		}
	}
}

func TestParseEquivalents(t *testing.T) {
	got, err := parseEquivalents("# comment\n\na.go f jump: return =>\n\tone\n\ttwo\nb.go f jump: break =>\n\tthree\n")
	want := map[string]string{"a.go f jump: return =>": "one two", "b.go f jump: break =>": "three"}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v", got, err)
	}
	for _, text := range []string{"\treason\n", "key\n", "key\n\treason\nkey\n\treason\n"} {
		if _, err := parseEquivalents(text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}
