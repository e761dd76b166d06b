package rpc

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/binary"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// bytesAnswer is an answer with given bytes.
type bytesAnswer []byte

func (b bytesAnswer) append(to []byte) []byte { return append(to, b...) }

// framed returns a message after its prefix.
func framed(flag byte, message string) string {
	return string(binary.BigEndian.AppendUint32([]byte{flag}, uint32(len(message)))) + message
}

func zipped(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(text))
	z.Close()
	return b.String()
}

func TestUnary(t *testing.T) {
	u := unary{1000, func(_ context.Context, request []byte) (answer, error) {
		return bytesAnswer("to " + string(request)), nil
	}}
	gzipped, half := http.Header{"Grpc-Encoding": {"gzip"}}, zipped(strings.Repeat("x", 900))
	for _, c := range []struct {
		name, body string
		header     http.Header
		status     string
		want       string // the message, if it is plain
	}{
		{"plain", framed(0, "abc"), nil, "0", "to abc"},
		{"empty", framed(0, ""), nil, "0", "to "},
		{"with a subtype", framed(0, "abc"), http.Header{"Content-Type": {"application/grpc+proto"}}, "0", "to abc"},
		{"not compressed", framed(0, "abc"), gzipped, "0", "to abc"},
		{"compressed", framed(1, zipped("abc")), gzipped, "0", "to abc"},
		{"large", framed(1, half), gzipped, "0", "to " + strings.Repeat("x", 900)},
		{"too large", framed(0, strings.Repeat("x", 1001)), nil, "8", ""},
		{"too large when it is decompressed", framed(1, zipped(strings.Repeat("x", 1001))), gzipped, "8", ""},
		{"longer than the body", framed(0, "abc")[:7], nil, "3", ""},
		{"without a message", "", nil, "3", ""},
		{"twice", framed(0, "abc") + framed(0, "abc"), nil, "12", ""},
		{"corrupt", framed(1, "abc"), gzipped, "3", ""},
		{"cut off", framed(1, half[:len(half)-3]), gzipped, "3", ""},
		{"compressed in another way", framed(1, "abc"), http.Header{"Grpc-Encoding": {"snappy"}}, "12", ""},
		{"compressed in an unknown way", framed(1, "abc"), nil, "13", ""},
		{"with a wrong flag", framed(2, zipped("abc")), gzipped, "13", ""},
		{"with a wrong time limit", framed(0, "abc"), http.Header{"Grpc-Timeout": {"3"}}, "3", ""},
		{"in JSON", framed(0, "{}"), http.Header{"Content-Type": {"application/grpc+json"}}, "", ""},
	} {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(c.body))
		r.Header.Set("Content-Type", grpc)
		for name, values := range c.header {
			r.Header[name] = values
		}
		w := httptest.NewRecorder()
		u.ServeHTTP(w, r)
		a := w.Result()
		message := w.Body.String()
		if c.want != "" && a.Header.Get("Grpc-Encoding") == compression {
			z, err := gzip.NewReader(strings.NewReader(message[prefix:]))
			if err != nil {
				t.Fatal(err)
			}
			plain, err := io.ReadAll(z)
			if err != nil || message != framed(1, message[prefix:]) {
				t.Errorf("%s: %q, %v", c.name, message, err)
			}
			message = framed(0, string(plain))
		}
		if status := cmp.Or(a.Trailer.Get("Grpc-Status"), a.Header.Get("Grpc-Status")); status != c.status || c.want != "" && message != framed(0, c.want) {
			t.Errorf("a message %s: status %s, %q", c.name, status, message)
		}
		if wrong := a.StatusCode == http.StatusUnsupportedMediaType; wrong != (c.status == "") {
			t.Errorf("a message %s: %s", c.name, a.Status)
		}
		if zipped := a.Header.Get("Grpc-Encoding") != ""; zipped != (c.status == "0" && strings.HasPrefix(c.body, "\x01")) {
			t.Errorf("a message %s: Grpc-Encoding is %q", c.name, a.Header.Get("Grpc-Encoding"))
		}
	}
}

func TestDeadline(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"": -1, "2H": 2 * time.Hour, "3M": 3 * time.Minute, "4S": 4 * time.Second, "50000m": 50 * time.Second, "60000000u": time.Minute,
		"99999999n": 99999999, "99999999H": 1 << 30 * time.Second / time.Hour * time.Hour, "0S": 0,
		"H": -2, "1": -2, "-1S": -2, "1.5S": -2, "1s": -2, "123456789S": -2, "S1": -2,
	} {
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		r.Header.Set("Grpc-Timeout", text)
		start := time.Now()
		ctx, cancel, err := deadline(r)
		if err != nil {
			if want != -2 {
				t.Errorf("%q: %v", text, err)
			}
			continue
		}
		at, limited := ctx.Deadline()
		cancel()
		if left := at.Sub(start); want == -2 || limited != (want >= 0) || limited && (left < want-time.Second || left > want+time.Hour) {
			t.Errorf("%q: %v, %v, want %v", text, left, limited, want)
		}
	}
}
