package pictures_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gopherwarp/gopherwarp/classify"
	"github.com/gopherwarp/gopherwarp/serve/batch"
	"github.com/gopherwarp/gopherwarp/serve/gate"
	"github.com/gopherwarp/gopherwarp/serve/pictures"
	"github.com/gopherwarp/gopherwarp/serve/repository"
)

// wide is a Model with one class for wide pictures and one for others. It refuses pictures of 13 pixels.
type wide struct {
	begun, wait chan struct{} // unless they are nil, each batch sends to the first one and then receives from the second one
	lost        *atomic.Bool
}

func (wide) Classes() int { return 2 }

func (m wide) Classify(ctx context.Context, _ int, list ...image.Image) (classes [][]classify.Class, err error) {
	if m.wait != nil {
		m.begun <- struct{}{}
		select {
		case <-m.wait:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if m.lost != nil && m.lost.Load() {
		return nil, errors.New("the device is lost")
	}
	for _, p := range list {
		c := []classify.Class{{Index: 0, Name: "high", Probability: 0.75}, {Index: 1, Name: "wide", Probability: 0.25}}
		switch b := p.Bounds(); {
		case b.Dx() == 13:
			return nil, classify.ErrPicture
		case b.Dx() > b.Dy():
			c[0], c[1] = classify.Class{Index: 1, Name: "wide", Probability: 0.9}, classify.Class{Index: 0, Name: "high", Probability: 0.1}
		}
		classes = append(classes, c)
	}
	return classes, nil
}

// models returns a loaded model.
func models(name string, m pictures.Model) map[string]*repository.Model[pictures.Model] {
	return map[string]*repository.Model[pictures.Model]{name: repository.Loaded(m)}
}

// serve starts a server.
func serve(t *testing.T, m pictures.Model, o pictures.Options) (string, *pictures.Handler) {
	t.Helper()
	g, err := gate.New(gate.Options{Others: []string{"p"}, Body: 5000})
	if err != nil {
		t.Fatal(err)
	}
	o.Models, o.Labels = models("p", m), map[string][]string{"p": {"high"}}
	h, err := pictures.Handle(g, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL, h
}

// file returns a picture in PNG.
func file(t *testing.T, w, h int) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, w, h))); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// send sends a request, by GET without a body, and returns the status and the answer.
func send(t *testing.T, url, body string) (int, string) {
	t.Helper()
	var a *http.Response
	var err error
	if body == "" {
		a, err = http.Get(url)
	} else {
		a, err = http.Post(url, "image/png", strings.NewReader(body))
	}
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return a.StatusCode, strings.TrimSpace(string(text))
}

func TestUpload(t *testing.T) {
	var seen batch.Report
	count := prometheus.NewCounter(prometheus.CounterOpts{Name: "x", Help: "X."})
	url, h := serve(t, wide{}, pictures.Options{Observe: func(_ string, r batch.Report) { seen = r }, Metrics: []prometheus.Collector{count}})
	for _, c := range []struct {
		query, body string
		status      int
		want        string
	}{
		{"", file(t, 9, 3), 200, `{"classes":[{"class":1,"name":"wide","probability":0.9},{"class":0,"name":"high","probability":0.1}],"model":"p"}`},
		{"?top=1", file(t, 3, 9), 200, `{"classes":[{"class":0,"name":"high","probability":0.75}],"model":"p"}`},
		{"?model=p&top=1", file(t, 3, 9), 200, `{"classes":[{"class":0,"name":"high","probability":0.75}],"model":"p"}`},
		{"?model=x", file(t, 3, 9), 404, `{"error":"there is no model \"x\"; there is p"}`},
		{"?priority=2147483648", file(t, 3, 9), 400, `{"error":"priority: \"2147483648\" is not an integer of 32 bits"}`},
		{"?top=0", file(t, 3, 9), 400, `{"error":"top: \"0\" is not a number from 1 to 1000"}`},
		{"", "text", 400, `{"error":"classify: not a picture: image: unknown format"}`},
		{"", file(t, 13, 9), 400, `{"error":"classify: not a picture"}`},
		{"", file(t, 3, 9) + strings.Repeat(" ", 5000), 413, `{"error":"the request has more than 5000 bytes"}`},
	} {
		if status, got := send(t, url+"/classify"+c.query, c.body); status != c.status || got != c.want {
			t.Errorf("%s %.8q: %d %s, want %d %s", c.query, c.body, status, got, c.status, c.want)
		}
	}
	if status, got := send(t, url+"/metrics", ""); status != 200 || !strings.Contains(got, "\nx 0") {
		t.Errorf("metrics: %d %s", status, got)
	}
	_, got := send(t, url+"/metrics", "")
	for _, want := range []string{`request_seconds_count{model_name="p"} 3`, `batch_sum{model_name="p"} 4`, `waiting{model_name="p"} 0`} {
		if !strings.Contains(got, "\ngopherwarp_pictures_"+want) {
			t.Errorf("no %s in the metrics:\n%s", want, got)
		}
	}
	if status, got := send(t, url+"/health", ""); status != 200 {
		t.Errorf("health: %d %s", status, got)
	}
	c := h.Classifier("p")
	if n, err := c.Classes(t.Context()); err != nil || n != 2 || len(c.Labels()) != 1 || seen.Items != 1 {
		t.Errorf("%d classes, %v, labels %v, %+v", n, err, c.Labels(), seen)
	}
	g, err := gate.New(gate.Options{Others: []string{"q"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []pictures.Options{{Models: models("p", wide{})}, {Models: models("q", wide{}), Delay: -1}} {
		if _, err := pictures.Handle(g, o); !errors.Is(err, gate.ErrOptions) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// A full queue refuses pictures, and those that it has accepted are classified.
func TestOverload(t *testing.T) {
	m := wide{begun: make(chan struct{}, 12), wait: make(chan struct{})}
	url, h := serve(t, m, pictures.Options{Pictures: 2})
	p := file(t, 9, 3)
	if _, err := h.Classifier("p").Classify(t.Context(), []byte(p), []byte(p), []byte(p)); gate.FailureOf(err).Status != 400 {
		t.Errorf("three pictures: %v", err)
	}
	var all sync.WaitGroup
	var ok, busy atomic.Int64
	for i := range 12 {
		if i == 1 {
			<-m.begun // a batch of the first picture alone
		}
		all.Go(func() {
			switch status, got := send(t, url+"/classify", p); status {
			case 200:
				ok.Add(1)
			case 429:
				busy.Add(1)
			default:
				t.Errorf("%d %s", status, got)
			}
		})
	}
	for end := time.Now().Add(time.Minute); busy.Load() < 9 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	close(m.wait)
	all.Wait()
	if ok.Load() != 3 { // one is computed, two wait
		t.Errorf("%d answers, %d refusals", ok.Load(), busy.Load())
	}
}

// Pictures with a smaller priority are classified first.
func TestPriority(t *testing.T) {
	m := wide{begun: make(chan struct{}), wait: make(chan struct{})}
	url, h := serve(t, m, pictures.Options{Batch: 1})
	p, answered := file(t, 9, 3), make(chan string, 4)
	ask := func(priority string) {
		status, got := send(t, url+"/classify?priority="+priority, p)
		if status != 200 {
			t.Errorf("%d %s", status, got)
		}
		answered <- priority
	}
	waiting := func(n int) {
		for want := fmt.Sprintf("\ngopherwarp_pictures_waiting{model_name=\"p\"} %d", n); ; time.Sleep(time.Millisecond) {
			if _, got := send(t, url+"/metrics", ""); strings.Contains(got, want) {
				return
			}
		}
	}
	go ask("0")
	<-m.begun
	for i, priority := range []string{"1", "", "-2147483648"} {
		go ask(priority)
		waiting(i + 1)
	}
	order := ""
	for i := range 4 {
		m.wait <- struct{}{}
		if order += <-answered + ","; i < 3 {
			<-m.begun
		}
	}
	if order != "0,-2147483648,,1," {
		t.Errorf("the order is %s", order)
	}
	h.Close()
}

// After an error of the device, the server is not healthy until the device computes again, also if no picture comes.
func TestHealth(t *testing.T) {
	m := wide{lost: new(atomic.Bool)}
	url, _ := serve(t, m, pictures.Options{})
	p := file(t, 9, 3)
	m.lost.Store(true)
	if status, got := send(t, url+"/classify", p); status != 500 {
		t.Errorf("%d %s", status, got)
	}
	if status, got := send(t, url+"/health", ""); status != 503 || !strings.Contains(got, "the device is lost") {
		t.Errorf("without the device: %d %s", status, got)
	}
	m.lost.Store(false)
	if status, got := send(t, url+"/health", ""); status != 200 {
		t.Errorf("the device is back: %d %s", status, got)
	}
}
