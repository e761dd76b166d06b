package gate_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/serve/gate"
)

// compressed returns a text after it has been compressed.
func compressed[W io.WriteCloser](t *testing.T, to func(io.Writer) W, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := to(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Bodies may be compressed, within the limit of their size.
func TestCompressed(t *testing.T) {
	g := open(t, gate.Options{Body: 1000})
	text := `{"n": 5}`
	large := text + strings.Repeat(" ", 2000)
	for _, x := range []struct {
		encoding, body string
		status         int
	}{
		{"", text, 200}, {"identity", text, 200}, {"gzip", compressed(t, gzip.NewWriter, text), 200}, {"GZIP", compressed(t, gzip.NewWriter, text), 200},
		{"deflate", compressed(t, zlib.NewWriter, text), 200}, {"gzip", compressed(t, gzip.NewWriter, large), 413}, {"deflate", compressed(t, zlib.NewWriter, large), 413},
		{"gzip", text, 400}, {"gzip", compressed(t, gzip.NewWriter, text)[:20], 400}, {"deflate", "x", 400}, {"gzip", "", 400}, {"br", text, 415},
	} {
		var to struct{ N int }
		r := httptest.NewRequest("POST", "/", strings.NewReader(x.body))
		r.Header.Set("Content-Encoding", x.encoding)
		err := g.Read(httptest.NewRecorder(), r, &to)
		status := http.StatusOK
		if err != nil {
			status = gate.FailureOf(err).Status
		}
		if status != x.status || (err == nil) != (to.N == 5) {
			t.Errorf("%s, %d bytes: %d, %v, %+v; want %d", x.encoding, len(x.body), status, err, to, x.status)
		}
	}
}
