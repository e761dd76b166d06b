package spans

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// mostAnswer is the largest number of bytes of a collector's answer that are read.
const mostAnswer = 64 << 10

// collector receives batches. It uses the parts of net/http that a server uses, too: the client of net/http, with its HTTP/2, its
// redirects and its pool of connections, would be 400 KB of the program, for a request of a few kilobytes every five seconds.
type collector struct {
	endpoint string
	headers  map[string]string
	timeout  time.Duration // of a request
}

// unavailable is an error after which another attempt may succeed.
type unavailable struct {
	error
	pause time.Duration // that the collector asks for, or 0
}

// Unwrap returns the error.
func (u *unavailable) Unwrap() error { return u.error }

// refusal is the error of a batch from which the collector has taken only some spans.
type refusal struct {
	spans   int // that it has not taken
	message string
}

// Error implements error.
func (r *refusal) Error() string {
	return fmt.Sprintf("spans: the collector refuses %d spans: %q", r.spans, r.message)
}

// post sends a batch.
func (c collector) post(ctx context.Context, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoint, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Close = true
	r.Header.Set("User-Agent", "gopherwarp")
	if user := r.URL.User; user != nil {
		password, _ := user.Password()
		r.SetBasicAuth(user.Username(), password)
	}
	for name, value := range c.headers {
		r.Header.Set(name, value)
	}
	r.Header.Set("Content-Type", "application/x-protobuf")
	a, text, err := exchange(r)
	if err != nil {
		return &unavailable{error: fmt.Errorf("spans: %w", err)}
	}
	switch a.StatusCode {
	case http.StatusOK:
		return refused(text)
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		seconds, _ := strconv.Atoi(a.Header.Get("Retry-After")) // 0 for a date
		pause := min(time.Duration(min(max(seconds, 0), 3600))*time.Second, mostPause)
		return &unavailable{fmt.Errorf("spans: the collector answers %s", a.Status), pause}
	}
	return fmt.Errorf("spans: the collector answers %s", a.Status)
}

// exchange sends a request over a connection of its own, and returns the answer and the beginning of its body.
func exchange(r *http.Request) (*http.Response, []byte, error) {
	conn, err := dial(r.Context(), r.URL)
	if err != nil {
		return nil, nil, err
	}
	defer conn.Close()
	stop := context.AfterFunc(r.Context(), func() { _ = conn.SetDeadline(time.Unix(1, 0)) }) // ends what is being read or written
	defer stop()
	if err := r.Write(conn); err != nil {
		return nil, nil, err
	}
	a, err := http.ReadResponse(bufio.NewReader(io.LimitReader(conn, mostAnswer)), r)
	if err != nil {
		return nil, nil, err
	}
	text, _ := io.ReadAll(a.Body) // an error cannot change that the collector has answered
	return a, text, nil
}

// dial opens a connection to the host of a URL.
func dial(ctx context.Context, u *url.URL) (net.Conn, error) {
	port := u.Port()
	if u.Scheme == "https" {
		if port == "" {
			port = "443"
		}
		d := tls.Dialer{Config: &tls.Config{MinVersion: tls.VersionTLS12}}
		return d.DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	}
	if port == "" {
		port = "80"
	}
	var d net.Dialer
	return d.DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
}
