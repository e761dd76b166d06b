package listen

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Requests of foreign pages are refused: those to a foreign host, and those with a foreign origin.
func TestLocal(t *testing.T) {
	h := Local(http.HandlerFunc(fine))
	for _, c := range []struct {
		host, origin string
		want         bool
	}{
		{"localhost", "", true}, {"localhost:8080", "", true}, {"LOCALHOST.:8080", "", true}, {"chat.localhost:8080", "", true}, {"", "", true},
		{"127.0.0.1:8080", "", true}, {"127.1.2.3", "", true}, {"[::1]:8080", "", true}, {"[::1]", "", true}, {"[::ffff:127.0.0.1]:1", "", true},
		{"evil.example", "", false}, {"evil.example:8080", "", false}, {"localhost.evil.example", "", false}, {"evillocalhost", "", false},
		{"127.0.0.1.evil.example:8080", "", false}, {"192.0.2.1:8080", "", false}, {"[2001:db8::1]:8080", "", false}, {"0.0.0.0:8080", "", false},
		{"localhost:8080", "http://localhost:8080", true}, {"localhost:8080", "https://127.0.0.1:3000", true}, {"localhost", "http://[::1]", true},
		{"localhost:8080", "http://evil.example", false}, {"localhost:8080", "https://localhost.evil.example:8080", false}, {"localhost", "null", false},
		{"localhost", "http://192.0.2.1", false}, {"localhost", "http://localhost@evil.example", false}, {"localhost", "://", false},
	} {
		w, r := httptest.NewRecorder(), httptest.NewRequest("POST", "/models/unload", strings.NewReader("{}"))
		r.Host = c.host
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		h.ServeHTTP(w, r)
		if c.want && w.Body.String() == "fine" {
			continue
		}
		var x struct{ Error struct{ Message string } }
		if err := json.Unmarshal(w.Body.Bytes(), &x); c.want || w.Code != http.StatusForbidden || err != nil || !strings.Contains(x.Error.Message, "is not this machine") {
			t.Errorf("host %q, origin %q: %d %s", c.host, c.origin, w.Code, w.Body)
		}
	}
}

// The addresses of the machine's interfaces are those of this machine.
func TestLocalInterfaces(t *testing.T) {
	list, err := net.InterfaceAddrs()
	if err != nil {
		t.Skip(err)
	}
	for _, a := range list {
		if ip, ok := a.(*net.IPNet); ok && !isLocal(net.JoinHostPort(ip.IP.String(), "8080")) {
			t.Errorf("%v is foreign", ip.IP)
		}
	}
}

// The host of a request to a Unix socket is not checked, but its origin is.
func TestLocalUnix(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("sockets of Unix")
	}
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Skip(err) // the path is too long
	}
	s := &httptest.Server{Listener: l, Config: &http.Server{Handler: Local(http.HandlerFunc(fine))}}
	s.Start()
	defer s.Close()
	for headers, want := range map[string]int{"": 200, "Origin: http://evil.example\r\n": 403} {
		c, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n"+headers+"\r\n"); err != nil {
			t.Fatal(err)
		}
		if a, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil || a.StatusCode != want {
			t.Errorf("%q: %+v, %v, want %d", headers, a, err, want)
		}
		c.Close()
	}
}
