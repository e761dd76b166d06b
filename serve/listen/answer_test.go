package listen

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// within reports an error if the time since a moment is not less than d.
func within(t *testing.T, d time.Duration, since time.Time) {
	t.Helper()
	if took := time.Since(since); took >= d {
		t.Errorf("took %v, want less than %v", took, d)
	}
}

// A client that does not send its whole body gets the answer, and the connection is closed.
func TestHalfBody(t *testing.T) {
	t.Parallel()
	const limit = 100 * time.Millisecond
	address, stop := start(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/refused" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		c := http.NewResponseController(w)
		_ = c.SetReadDeadline(time.Now().Add(limit))
		_, err := io.ReadAll(r.Body)
		_ = c.SetReadDeadline(time.Time{})
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: reading the body: %v", r.URL, err)
		}
		w.WriteHeader(http.StatusRequestTimeout)
	}, Options{Connections: 20, Drain: time.Minute})
	for what, c := range map[string]struct {
		request string
		want    int
		goesOn  bool // the server asks for the body
	}{
		"small":            {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{", 408, false},
		"large":            {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n{", 408, false},
		"chunked":          {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{", 408, false},
		"old":              {"POST / HTTP/1.0\r\nContent-Length: 1000\r\n\r\n{", 408, false},
		"expected":         {"POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 1000\r\n\r\n", 408, true},
		"refused":          {"POST /refused HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{", 401, false},
		"refused, chunked": {"POST /refused HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{", 401, false},
		"refused, expects": {"POST /refused HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 1000\r\n\r\n", 401, false},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			conn, began := dial(t, address), time.Now()
			if _, err := io.WriteString(conn, c.request); err != nil {
				t.Fatal(err)
			}
			from := bufio.NewReader(conn)
			a, err := http.ReadResponse(from, nil)
			if err == nil && c.goesOn {
				if a.StatusCode != http.StatusContinue {
					t.Errorf("the first status is %d, want 100", a.StatusCode)
				}
				a, err = http.ReadResponse(from, nil)
			}
			if err != nil || a.StatusCode != c.want || !a.Close {
				t.Fatalf("got %+v, %v; want status %d and Connection: close", a, err, c.want)
			}
			within(t, limit+time.Second, began)
			if !gone(conn) {
				t.Error("the connection is open")
			}
			within(t, limit+4*time.Second, began)
		})
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// A body that a handler does not read, and that arrives, does not end the connection. A client that sends a large body at once can read the
// refusal.
func TestUnreadBody(t *testing.T) {
	t.Parallel()
	address, stop := start(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusTooManyRequests)
		time.Sleep(forRest + forRest/5) // the deadline for the rest does not end the request
		if r.Context().Err() != nil {
			t.Errorf("the context of the request: %v", context.Cause(r.Context()))
		}
	}, Options{Drain: time.Minute})
	c := dial(t, address)
	from := bufio.NewReader(c)
	for _, size := range []int{10, 8 << 20, 10} {
		body := strings.NewReader(strings.Repeat(" ", size))
		r, err := http.NewRequest("POST", "http://x", body)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Write(c); err != nil {
			t.Fatal(err)
		}
		a, err := http.ReadResponse(from, r)
		if err != nil || a.StatusCode != http.StatusTooManyRequests || a.Close {
			t.Fatalf("%d bytes: %+v, %v", size, a, err)
		}
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}
