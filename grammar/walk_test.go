package grammar

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/grammar/internal/machine"
)

// walk returns a random text of a grammar, or "" if it is longer than a few thousand bytes. Nothing can follow a text that is stuck.
func walk(g *Grammar, r *rand.Rand) (result string, stuck bool) {
	var text []byte
	g.machine.Allow(math.MaxUint64 / 2)
	for k := g.machine.First(); ; {
		if k.End() && (len(text) > 100 || r.IntN(3) == 0) {
			return string(text), false
		}
		next, list := k, []byte(nil)
		for c := range 256 {
			if g.machine.Step(k, byte(c)) != nil {
				list = append(list, byte(c))
			}
		}
		if len(list) == 0 && k.End() {
			return string(text), false
		}
		if len(list) == 0 {
			return string(text), true
		}
		c := pick(list, r, len(text))
		next = g.machine.Step(k, c)
		if text, k = append(text, c), next; len(text) > 3000 {
			return "", false
		}
	}
}

// pick returns a byte that may follow: in a long text one that ends something.
func pick(list []byte, r *rand.Rand, length int) byte {
	if r.IntN(400) < length {
		for _, c := range []byte(`"}],:`) {
			if bytes.IndexByte(list, c) >= 0 {
				return c
			}
		}
	}
	if i := bytes.IndexByte(list, ' '); i >= 0 && r.IntN(10) > 0 && len(list) > 1 {
		list = append(list[:i:i], list[i+1:]...)
	}
	return list[r.IntN(len(list))]
}

// walked is a line for the judge.
type walked struct {
	Schema    json.RawMessage `json:"schema"`
	Documents []string        `json:"documents"`
}

// TestWalks validates random documents of schemas with Python's package jsonschema.
func TestWalks(t *testing.T) {
	python, err := exec.LookPath(cmp.Or(os.Getenv("GOPHERWARP_PYTHON"), "python3"))
	if err != nil {
		t.Skipf("there is no Python to compare with: %v", err)
	}
	if err := exec.Command(python, "-c", "import jsonschema").Run(); err != nil {
		t.Skipf("%s has no package jsonschema to compare with", python)
	}
	var schemas []json.RawMessage
	for _, c := range schemaCases {
		schemas = append(schemas, json.RawMessage(c.schema))
	}
	if *maskbench != "" {
		schemas = append(schemas, benchSchemas(t)...)
	}
	r := rand.New(rand.NewPCG(1, 2))
	var lines bytes.Buffer
	var kept []json.RawMessage
	documents := 0
	for i, s := range schemas {
		g, err := Schema(s)
		if err != nil {
			continue
		}
		w := walked{Schema: s, Documents: []string{}}
		for range 8 {
			text, stuck := walk(g, r)
			switch {
			case stuck && i < len(schemaCases):
				t.Errorf("%s: nothing may follow %q", s, text)
			case stuck: // too complex a pattern to see it in time
				t.Logf("%.200s: nothing may follow %q", s, text)
			case text != "":
				w.Documents = append(w.Documents, text)
			}
		}
		line, err := json.Marshal(w)
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(append(line, '\n'))
		kept, documents = append(kept, s), documents+len(w.Documents)
	}
	t.Logf("%d documents of %d schemas", documents, len(kept))
	cmd := exec.Command(python, filepath.Join("testdata", "judge.py"))
	cmd.Stdin, cmd.Stderr = &lines, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		var verdict [3]any
		if err := json.Unmarshal(s.Bytes(), &verdict); err != nil {
			t.Fatal(err)
		}
		if verdict[1] == "" {
			t.Logf("the judge cannot use a schema: %v", verdict[2])
			continue
		}
		t.Errorf("%.400s\naccepts %.300v: %.200v", kept[int(verdict[0].(float64))], verdict[1], verdict[2])
	}
}

// benchSchemas returns the schemas of maskbench.
func benchSchemas(t *testing.T) (list []json.RawMessage) {
	files, err := filepath.Glob(filepath.Join(*maskbench, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var c benchCase
		if err := json.Unmarshal(data, &c); err != nil {
			t.Fatal(err)
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, c.Schema); err != nil {
			t.Fatal(err)
		}
		list = append(list, compact.Bytes())
	}
	return list
}

// TestMask compares masks with the tokens that the grammar lets follow, one by one, along random texts.
func TestMask(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	list := []string{"", "a", "ab", "\"", "\"}", "{\"", " ", "  ", "\n", "é", "\xc3", "\xa9", "\\", "\\n", "\\u", "1", "12", ".5", "e", ",", "[", "]", "true", "null", "}", "a", strings.Repeat("ab", 20)}
	for range 300 {
		var b []byte
		for range 1 + r.IntN(5) {
			b = append(b, []byte(`{}[]",: abc019.-\nxé`)[r.IntN(20)])
		}
		list = append(list, string(b))
	}
	ends := []int32{int32(len(list)), int32(len(list) + 1)}
	v := newVocabulary(append(list, "", ""), ends)
	for _, c := range schemaCases {
		g, err := Schema([]byte(c.schema))
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			checkMasks(t, g.NewMatcher(v), r)
		}
	}
}

// checkMasks follows a random text of tokens.
func checkMasks(t *testing.T, m *Matcher, r *rand.Rand) {
	t.Helper()
	words := make([]uint32, m.vocabulary.Words())
	for range 40 {
		state := m.state
		err := m.Mask(words)
		var allowed []int32
		for i, s := range m.vocabulary.bytes {
			end := s == "" && len(m.vocabulary.ends) > 0 && int32(i) >= m.vocabulary.ends[0]
			want := end && state.End() || s != "" && follow(m, state, s) != nil
			if got := words[i/32]>>(i%32)&1 != 0; got != want {
				t.Fatalf("token %d %q: mask %v, want %v", i, s, got, want)
			}
			if want {
				allowed = append(allowed, int32(i))
			}
		}
		if len(allowed) == 0 {
			if err == nil {
				t.Fatal("no token is allowed, and no error")
			}
			return
		}
		if err := m.Accept(allowed[r.IntN(len(allowed))]); err != nil {
			t.Fatal(err)
		}
		if m.Ended() {
			return
		}
	}
}

// follow returns the state after a text.
func follow(m *Matcher, k *machine.Known, s string) *machine.Known {
	return m.grammar.machine.Text(k, s)
}

// BenchmarkMask measures masks of new states, with a vocabulary of random words.
func BenchmarkMask(b *testing.B) {
	r := rand.New(rand.NewPCG(5, 6))
	const letters = "etaoinshrdlucmfwypvbgkqjxz ETAOI0123.,-\"{}[]:\n\\\xc3\xa9" // the frequent ones first
	for _, n := range []int{49152, 128256} {
		seen, list := map[string]bool{}, []string{}
		for len(list) < n {
			w := make([]byte, 1+r.IntN(3)+r.IntN(6))
			for i := range w {
				w[i] = letters[min(r.IntN(len(letters)), r.IntN(len(letters)))]
			}
			if s := string(w); !seen[s] {
				seen[s], list = true, append(list, s)
			}
		}
		v := newVocabulary(append(list, ""), []int32{int32(n)})
		words := make([]uint32, v.Words())
		for name, text := range map[string]string{"text": `{"a": "`, "name": `{`, "names": `{"a": "", "`, "number": `{"a": "", "b": `, "bounded": `{"a": "", "b": 1, "c": "abc`} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				for b.Loop() {
					b.StopTimer()
					g, err := Schema([]byte(`{"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}, "c": {"type": "string", "maxLength": 20}}, "additionalProperties": true}`))
					if err != nil {
						b.Fatal(err)
					}
					m := g.NewMatcher(v)
					g.machine.Allow(maxWork)
					m.state = g.machine.Text(m.state, text)
					b.StartTimer()
					if err := m.Mask(words); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
