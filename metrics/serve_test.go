package metrics

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// slow is a collector that waits until it may answer.
type slow struct {
	asked  chan struct{} // has an element for each question
	answer chan struct{} // closed when it may
}

func (s slow) Describe(chan<- *prometheus.Desc) {}

func (s slow) Collect(to chan<- prometheus.Metric) {
	s.asked <- struct{}{}
	<-s.answer
	to <- prometheus.MustNewConstMetric(prometheus.NewDesc("slow", "Help.", nil, nil), prometheus.GaugeValue, 7)
}

// served serves a slow collector, and returns its address.
func served(t *testing.T, m limits) (s slow, address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skipf("no network: %v", err)
	}
	s = slow{make(chan struct{}, 100), make(chan struct{})}
	registry := prometheus.NewRegistry()
	registry.MustRegister(s)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- m.serve(ctx, l, registry) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return s, l.Addr().String()
}

func get(address string) (status int, body string, err error) {
	r, err := http.Get("http://" + address + "/metrics")
	if err != nil {
		return 0, "", err
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	return r.StatusCode, string(text), err
}

// TestServeRefuses asks more at once than is answered at once.
func TestServeRefuses(t *testing.T) {
	s, address := served(t, usual)
	type result struct {
		status int
		body   string
		err    error
	}
	results := make(chan result, usual.requests)
	for range usual.requests {
		go func() {
			status, body, err := get(address)
			results <- result{status, body, err}
		}()
		<-s.asked
	}
	if status, _, err := get(address); status != http.StatusServiceUnavailable || err != nil {
		t.Errorf("one request more: %d, %v", status, err)
	}
	close(s.answer)
	for range usual.requests {
		if r := <-results; r.status != http.StatusOK || !strings.Contains(r.body, "slow 7") || r.err != nil {
			t.Errorf("got %+v", r)
		}
	}
}

// TestServeDisconnects connects and says nothing, at once and after a first request.
func TestServeDisconnects(t *testing.T) {
	m := usual
	m.read, m.idle = 20*time.Millisecond, 20*time.Millisecond
	s, address := served(t, m)
	close(s.answer)
	for _, text := range []string{"", "GET /metr", "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"} {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := io.WriteString(c, text); err != nil {
			t.Fatal(err)
		}
		if err := c.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		var timeout net.Error
		if _, err := io.Copy(io.Discard, c); errors.As(err, &timeout) && timeout.Timeout() {
			t.Errorf("after %q the connection stays", text)
		}
	}
}

// TestServeGivesUp asks a collector that does not answer.
func TestServeGivesUp(t *testing.T) {
	m := usual
	m.gather = 20 * time.Millisecond
	s, address := served(t, m)
	if status, _, err := get(address); status != http.StatusServiceUnavailable || err != nil {
		t.Errorf("got %d, %v", status, err)
	}
	close(s.answer)
}
